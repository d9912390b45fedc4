// Run with `--rootDir <project>`, one project at a time, because ESM in node:vm keeps every module graph
// until the process ends.
import { fileURLToPath } from 'node:url';

/**
 * `npm test` runs short specs, and `nx long` runs specs named *.long.spec.ts. Without a tier Jest runs both.
 */
const tier = process.env.TEST_TIER;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** @type {import('jest').Config} */
export default {
  testEnvironment: here('./tools/jest/native-environment.ts'),
  testRunner: here('./tools/jest/native-runner.ts'),
  testMatch: [tier === 'long' ? '**/*.long.spec.ts' : '**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(tier === 'short' ? ['\\.long\\.spec\\.ts$'] : [])],
  extensionsToTreatAsEsm: ['.ts'],
  // Jest transforms nothing. Node's own stripTypeScriptTypes erases types, so specs test the code that ships.
  transform: {},
  injectGlobals: false,
  globalSetup: here('./tools/jest/start-services.ts'),
  globalTeardown: here('./tools/jest/stop-services.ts'),
  workerIdleMemoryLimit: '1GB',
  // The number of concurrent tests of a file among those that use `it.concurrent`, because they wait for a
  // time to pass or for a server.
  maxConcurrency: 10,
  // Races wait for locks, and a machine may be busy. The timeout only ends tests that hang.
  testTimeout: 60_000,
};

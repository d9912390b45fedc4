// Run with `--rootDir <project>`, one project at a time: ESM in node:vm keeps every module graph until its process ends.
import { fileURLToPath } from 'node:url';

/** `npm test` runs short specs, `nx long` those named *.long.spec.ts; without a tier Jest runs both. */
const tier = process.env.TEST_TIER;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** @type {import('jest').Config} */
export default {
  testEnvironment: here('./tools/jest/native-environment.ts'),
  testRunner: here('./tools/jest/native-runner.ts'),
  testMatch: [tier === 'long' ? '**/*.long.spec.ts' : '**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(tier === 'short' ? ['\\.long\\.spec\\.ts$'] : [])],
  extensionsToTreatAsEsm: ['.ts'],
  // Nothing to transform: Jest erases types with Node's own stripTypeScriptTypes, so what is tested is what ships.
  transform: {},
  injectGlobals: false,
  globalSetup: here('./tools/jest/start-services.ts'),
  globalTeardown: here('./tools/jest/stop-services.ts'),
  workerIdleMemoryLimit: '1GB',
  // Of the tests that wait for a time to pass or for a server, and say so by `it.concurrent`.
  maxConcurrency: 10,
  // Races wait for locks, and a machine may be busy: this only ends what hangs.
  testTimeout: 60_000,
};

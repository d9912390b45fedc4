/**
 * Runs a spec file with jest-circus, Jest's runner, on Node's own modules.
 * Jest would read the whole product and its packages again for each spec file into a context of node:vm. That
 * costs a second or more for each file, and memory that is freed only at the end of the process.
 * Here a process loads them once, like the product does. A spec and its helpers (`test/`, libs/testing) are
 * loaded again for each file, because they use the Jest of that file.
 */
import { createRequire, enableCompileCache, flushCompileCache, registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as globals from '@jest/globals';

const require = createRequire(import.meta.url);
const globalsUrl = new URL('native-globals.ts', import.meta.url).href;

type Globals = typeof globals;
type Run = (
  globalConfig: unknown,
  config: unknown,
  environment: unknown,
  runtime: Runtime,
  specFile: string,
  send?: unknown,
) => Promise<unknown>;

/** The part of jest-runtime that jest-circus uses. */
interface Runtime {
  requireInternalModule: (file: string) => unknown;
  unstable_shouldLoadAsEsm: () => boolean;
  unstable_importModule: (file: string) => Promise<unknown>;
  setGlobalsForRuntime: (globals: Omit<Globals, 'jest'>) => void;
  readonly jestGlobals: { jestObjectFor(file: string): Globals['jest'] };
}

const circus = require('jest-circus/runner') as { default: Run };
/**
 * The folder of Node's compile cache. The next spec file, the next process and the programs that specs start
 * use compiled code with its types removed.
 */
const cacheFolder = path.resolve(import.meta.dirname, '../../.nx/compile-cache');
process.env['NODE_COMPILE_CACHE'] ??= cacheFolder;
enableCompileCache(process.env['NODE_COMPILE_CACHE']);

// Nx sets FORCE_COLOR for its tasks. A program that a spec starts would therefore color the output that the
// spec reads.
delete process.env['FORCE_COLOR'];

let current: Globals | undefined;
let files = 0;

export function globalsOfSpec(): Globals {
  if (current === undefined) throw new Error('only specs, while they are loaded, import @jest/globals');
  return current;
}

const workspace = new URL('../../', import.meta.url).href;
/** Returns true for a spec's own modules, which may use Jest. */
const isSpecHelper = (url: string): boolean =>
  url.startsWith(workspace) &&
  /^((apps|libs)\/[^/]+\/test|libs\/testing\/src)\/.*(?<!\.spec)\.ts(\?|$)/.test(url.slice(workspace.length));

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') {
      const { parentURL: from = '' } = context;
      if (!/\.(spec|long)\.ts$/.test(from) && !isSpecHelper(from))
        throw new Error(
          `${from} would keep the Jest of the first spec file: it belongs in test/ or libs/testing`,
        );
      return { url: `${globalsUrl}?${files}`, shortCircuit: true };
    }
    const found = next(specifier, context);
    return isSpecHelper(found.url) ? { ...found, url: `${found.url}?${files}` } : found;
  },
});

/**
 * Loads the module again for each file, because jest-circus keeps its state in the module and each file needs
 * its own state.
 */
function requireAnew(file: string): unknown {
  Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
  Reflect.deleteProperty(globalThis, Symbol.for('TEST_TIMEOUT_SYMBOL'));
  Reflect.deleteProperty(require.cache, file);
  return require(file);
}

const run: Run = async (globalConfig, config, environment, runtime, specFile, send) => {
  files += 1;
  Object.assign(runtime, {
    requireInternalModule: requireAnew,
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (file) => import(pathToFileURL(file).href),
    setGlobalsForRuntime: (globals) => {
      current = { ...globals, jest: runtime.jestGlobals.jestObjectFor(specFile) };
    },
  } satisfies Partial<Runtime>);
  try {
    return await circus.default(globalConfig, config, environment, runtime, specFile, send);
  } finally {
    flushCompileCache();
  }
};
export default run;

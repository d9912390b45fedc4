/**
 * Finds the bundles of apps as they ship. Specs start them instead of the sources, because they start in less
 * than half the time.
 */
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');

/**
 * Returns the main file of an app's bundle if the test depends on its build, so that Nx has just built it
 * (tools/jest/built-apps.ts).
 * Another app may have no bundle or an old one.
 */
export const builtMainFile = (app: string): string | undefined =>
  process.env['BUILT_APPS']?.split(',').includes(app)
    ? path.join(workspaceRoot, 'dist/apps', app, 'main.js')
    : undefined;

/** Returns the file with which to start an app: its bundle, or its sources if none was built. */
export const bundleFileOf = (mainFile: string): string =>
  builtMainFile(mainFile.split('/')[1] ?? '') ?? mainFile;

const sourceMaps = new Map<string, SourceMap | undefined>();

function sourceMapOf(bundle: string): SourceMap | undefined {
  const file = `${bundle}.map`;
  if (!sourceMaps.has(bundle))
    sourceMaps.set(
      bundle,
      existsSync(file)
        ? new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload)
        : undefined,
    );
  return sourceMaps.get(bundle);
}

/**
 * Rewrites the positions in a bundle's output to positions in its sources. Node could do that too, but each
 * start would take a third longer.
 */
export const mapToSources = (output: string): string =>
  output.replaceAll(
    /(?:file:\/\/)?(\/[^\s():"]+\.js):(\d+):(\d+)/g,
    (place, bundle: string, line: string, column: string) => {
      const origin = sourceMapOf(bundle)?.findOrigin(Number(line), Number(column));
      if (origin === undefined || !('fileName' in origin)) return place;
      const source = path.relative(workspaceRoot, path.resolve(path.dirname(bundle), origin.fileName));
      return `${source}:${origin.lineNumber}:${origin.columnNumber}`;
    },
  );

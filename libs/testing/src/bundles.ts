/** Apps as they ship, which specs start in place of their sources: they take less than half as long. */
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';

const workspaceRoot = path.resolve(import.meta.dirname, '../../..');

/**
 * The main file of an app's bundle, where the test depends on its build, so that Nx has just made it of these sources
 * (tools/jest/built-apps.ts). Of another app there may be none, or an old one.
 */
export const builtMain = (app: string): string | undefined =>
  process.env['BUILT_APPS']?.split(',').includes(app)
    ? path.join(workspaceRoot, 'dist/apps', app, 'main.js')
    : undefined;

/** What to start of an app: its bundle, or its sources where none was made. */
export const programOf = (mainFile: string): string => builtMain(mainFile.split('/')[1] ?? '') ?? mainFile;

const maps = new Map<string, SourceMap | undefined>();

function mapOf(bundle: string): SourceMap | undefined {
  const file = `${bundle}.map`;
  if (!maps.has(bundle))
    maps.set(
      bundle,
      existsSync(file)
        ? new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload)
        : undefined,
    );
  return maps.get(bundle);
}

/** What a bundle said, with the places in its sources. Node would look them up as well, for a third more of each start. */
export const inSources = (said: string): string =>
  said.replaceAll(
    /(?:file:\/\/)?(\/[^\s():"]+\.js):(\d+):(\d+)/g,
    (place, bundle: string, line: string, column: string) => {
      const origin = mapOf(bundle)?.findOrigin(Number(line), Number(column));
      if (origin === undefined || !('fileName' in origin)) return place;
      const source = path.relative(workspaceRoot, path.resolve(path.dirname(bundle), origin.fileName));
      return `${source}:${origin.lineNumber}:${origin.columnNumber}`;
    },
  );

/**
 * Adds the MCP server to a client and removes it again, by the client's own command or in the client's
 * settings file.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, realpath, rename, writeFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from '@muster/terminal';
import { type ClientFile, type McpClient, type Server } from './clients.ts';
import { editJson, editToml, valueAt } from './edit.ts';

const run = promisify(execFile);

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new UsageError(`${file} cannot be read: ${message}`);
  });
}

/**
 * Writes the file atomically. If the path is a symbolic link, its target is replaced and the link stays. The
 * file keeps its permissions.
 */
async function writeWhole(file: string, text: string): Promise<void> {
  const target = await realpath(file).catch(() => file);
  try {
    await mkdir(path.dirname(target), { recursive: true });
    const mode = (await stat(target).catch(() => undefined))?.mode;
    const draft = `${target}.${process.pid}.tmp`;
    await writeFile(draft, text, mode === undefined ? {} : { mode });
    await rename(draft, target);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`);
  }
}

/** Returns the text of a settings file after adding or removing the server. */
export function edited(
  text: string,
  { file, within, format }: ClientFile,
  client: McpClient,
  server: Server,
  isThere: boolean,
): string {
  const entry = isThere ? client.entry(server) : undefined;
  if (format === 'toml') return editToml(text, file, { within, name: server.name }, entry);
  // The file does not contain the server, so there is nothing to remove.
  if (!isThere && valueAt(text, file, [within, server.name]) === undefined) return text;
  const made = editJson(text, file, [within, server.name], entry);
  const beside = client.beside?.(server);
  if (beside === undefined) return made;
  const list = valueAt(made, file, [beside.within]);
  const items = Array.isArray(list) ? (list as unknown[]) : [];
  const at = items.findIndex((item) => (item as { id?: unknown } | null)?.id === beside.value.id);
  if (isThere) return editJson(made, file, [beside.within, at < 0 ? items.length : at], beside.value);
  return at < 0 ? made : editJson(made, file, [beside.within, at], undefined);
}

/** Writes the server into the file. Returns true if that changed anything. */
export async function changeFile(
  place: ClientFile,
  client: McpClient,
  server: Server,
  isThere: boolean,
): Promise<boolean> {
  const before = await textOf(place.file);
  if (before === '' && !isThere) return false;
  const after = edited(before, place, client, server, isThere);
  if (after === before) return false;
  await writeWhole(place.file, after);
  return true;
}

/** Formats a command's words so that a user can type them in a shell. */
export const typed = (words: readonly string[]): string =>
  words
    .map((word) => (/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');

/**
 * Runs the client's own command. Returns false if the client is not installed. Throws UsageError with the
 * command's output.
 */
export async function runCommand(program: string, words: readonly string[]): Promise<boolean> {
  try {
    // On Windows, a client that is installed as a script can only be started by a shell, so `run` fails with
    // ENOENT. The caller then edits the client's settings file instead.
    await run(program, [...words], { timeout: 60_000 });
    return true;
  } catch (error) {
    const { code, stderr, stdout } = error as { code?: unknown; stderr?: string; stdout?: string };
    if (code === 'ENOENT') return false;
    const said = [stderr, stdout].find((text) => text !== undefined && text.trim() !== '') ?? String(error);
    throw new UsageError(`${typed([program, ...words])} failed: ${said.trim()}`);
  }
}

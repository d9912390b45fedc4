/**
 * Adds the MCP server to a client and removes it again, by the client's own command or in the client's
 * settings file.
 */
import { execFile } from 'node:child_process';
import { lstat, mkdir, readFile, realpath, rename, rm, writeFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from '@muster/terminal';
import { type ClientSettingsFile, type McpClient, type McpServerSettings } from './clients.ts';
import { editJson, editToml, readJsonValue } from './edit.ts';

const execFileAsync = promisify(execFile);

/** Returns the file's text, or an empty text if the file does not exist. */
export async function readTextFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new UsageError(`${file} cannot be read: ${message}`);
  });
}

/**
 * Writes the file atomically. If the path is a symbolic link, its target is replaced and the link stays. The
 * file keeps its permissions. A new file gets `newFileMode`, limited by the umask.
 */
export async function writeFileAtomically(file: string, text: string, newFileMode = 0o666): Promise<void> {
  const target = await realpath(file).catch(() => file);
  try {
    await mkdir(path.dirname(target), { recursive: true });
    const mode = (await stat(target).catch(() => undefined))?.mode ?? newFileMode;
    const draft = `${target}.${process.pid}.tmp`;
    await writeFile(draft, text, { mode });
    await rename(draft, target);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${(error as Error).message}`);
  }
}

/** Returns the text of a settings file after adding or removing the server. */
export function editSettings(
  text: string,
  { file, serversKey, format }: ClientSettingsFile,
  client: McpClient,
  server: McpServerSettings,
  shouldExist: boolean,
): string {
  const entry = shouldExist ? client.buildEntry(server) : undefined;
  if (format === 'toml') return editToml(text, file, { within: serversKey, name: server.name }, entry);
  // The file does not contain the server, so there is nothing to remove.
  if (!shouldExist && readJsonValue(text, file, [serversKey, server.name]) === undefined) return text;
  const made = editJson(text, file, [serversKey, server.name], entry);
  const beside = client.buildSecondEntry?.(server);
  if (beside === undefined) return made;
  const list = readJsonValue(made, file, [beside.within]);
  const items = Array.isArray(list) ? (list as unknown[]) : [];
  const at = items.findIndex((item) => (item as { id?: unknown } | null)?.id === beside.value.id);
  if (shouldExist) return editJson(made, file, [beside.within, at < 0 ? items.length : at], beside.value);
  return at < 0 ? made : editJson(made, file, [beside.within, at], undefined);
}

/** Writes the server into the file. Returns true if that changed anything. */
export async function updateSettingsFile(
  settingsFile: ClientSettingsFile,
  client: McpClient,
  server: McpServerSettings,
  shouldExist: boolean,
): Promise<boolean> {
  const before = await readTextFile(settingsFile.file);
  if (before === '' && !shouldExist) return false;
  const after = editSettings(before, settingsFile, client, server, shouldExist);
  if (after === before) return false;
  await writeFileAtomically(settingsFile.file, after);
  return true;
}

/**
 * Deletes the settings file if nothing but empty lists of servers and prompts is left in it. A symbolic link
 * stays. Returns true if the file was deleted.
 */
export async function deleteEmptySettingsFile(
  { file, serversKey }: ClientSettingsFile,
  { buildSecondEntry }: McpClient,
  server: McpServerSettings,
): Promise<boolean> {
  const keys = [serversKey, buildSecondEntry?.(server)?.within ?? serversKey];
  const rest = keys.reduce((text, key) => text.replace(`"${key}"`, ''), await readTextFile(file));
  if (/[^\s{}[\]:,\uFEFF]/.test(rest) || (await lstat(file)).isSymbolicLink()) return false;
  await rm(file);
  return true;
}

/** Formats a command's words so that a user can type them in a shell. */
export const formatShellCommand = (words: readonly string[]): string =>
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
    await execFileAsync(program, [...words], { timeout: 60_000 });
    return true;
  } catch (error) {
    const { code, stderr, stdout } = error as { code?: unknown; stderr?: string; stdout?: string };
    if (code === 'ENOENT') return false;
    const said = [stderr, stdout].find((text) => text !== undefined && text.trim() !== '') ?? String(error);
    throw new UsageError(`${formatShellCommand([program, ...words])} failed: ${said.trim()}`);
  }
}

/** Adds the server with the client's own command, after removing a server with the same name. */
export async function reinstallServer(
  { program, add, remove }: NonNullable<McpClient['command']>,
  server: McpServerSettings,
): Promise<boolean> {
  const isThere = await runCommand(program, remove(server)).catch((error: unknown) => {
    // The client's command failed, because the client has no server with this name. There is nothing to
    // replace.
    if (error instanceof UsageError) return true;
    throw error;
  });
  return isThere && (await runCommand(program, add(server)));
}

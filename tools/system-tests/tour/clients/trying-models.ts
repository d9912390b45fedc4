/**
 * Tries one coding agent at a time, with a valid and with an invalid token. The messages that reached its
 * model show what it passed on.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type ModelCli, type ModelClient, type CliFolder, prompt } from './model-clients.ts';
import { clientsFolder, packages } from './packages.ts';
import { record } from './recorder.ts';
import { startStubModel } from './stub-model.ts';
import { callsToGoal, type Transcript, transcriptOf } from './transcripts.ts';
import { errorLineIn, mostShown, runClient, runModule, type ClientTrial } from './trying.ts';

/** Runs the client in a temporary home folder. */
async function runInstalled(client: ModelCli, place: CliFolder, home: string): Promise<string> {
  for (const [file, text] of Object.entries(client.files(place))) {
    await mkdir(path.dirname(path.join(home, file)), { recursive: true });
    await writeFile(path.join(home, file), text);
  }
  const [first = '', ...others] = client.program;
  const isNode = first === 'node';
  const inPackages = (file: string): string => path.join(clientsFolder, file);
  return runClient({
    file: isNode ? process.execPath : inPackages(first),
    args: [...(isNode ? others.map(inPackages) : others), ...client.args],
    cwd: home,
    env: { HOME: home, ...client.env(place) },
  });
}

async function runIn(client: ModelClient, place: CliFolder): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'muster-client-'));
  try {
    if ('program' in client) return await runInstalled(client, place, home);
    const { url, token, model } = place;
    const env = { HOME: home, URL: url, TOKEN: token, MODEL: model, PROMPT: prompt };
    return await runModule(clientsFolder, client.script, env);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Returns the line of output from which a user sees that the server refused the token. Most clients print no
 * such line.
 */
function complaintIn(said: string): string {
  const lines = stripVTControlCharacters(said).split('\n');
  const line = lines.find(
    (one) => /muster|mcp|connect/i.test(one) && /fail|error|401|auth|unavailable|disconnect/i.test(one),
  );
  // Removes text that differs in each run.
  return (line ?? 'nothing')
    .replace(/^\S+Z\s+/, '')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'localhost')
    .trim()
    .slice(0, mostShown);
}

/**
 * Returns true for names with the client's prefix: `mcp__muster__start_work` and `muster_start_work` are
 * `start_work`.
 */
const isOurs = (name: string, ours: readonly string[]): boolean => ours.some((one) => name.endsWith(one));

/** Tries one client. `ours` are the names of all tools in core mode. */
export async function tryModelClient(
  client: ModelClient,
  url: string,
  token: string,
  ours: readonly string[],
): Promise<ClientTrial & { readonly transcript: Transcript }> {
  const recorder = await record(url);
  const model = await startStubModel();
  const refused = await startStubModel();
  try {
    const told = await runIn(client, { url: recorder.url, token, model: model.url });
    const opens = recorder.opening() ?? 'nothing';
    const exchanges = [...recorder.exchanges()];
    const calls = callsToGoal(exchanges);
    const bad = { url: recorder.url, token: 'must_live_nonsense', model: refused.url };
    const complaint = 'script' in client ? errorLineIn : complaintIn;
    const badToken = complaint(await runIn(client, bad));
    const tools = [...model.tools()].filter((name) => isOurs(name, ours)).length;
    const strict = [...model.strict()].filter((name) => isOurs(name, ours)).length;
    const heard = model.heard();
    const [call, refusal] = [
      heard.includes('"serverTime":"'),
      heard.includes('"code":"not_found"') && heard.includes('"hint":"'),
    ];
    const about = {
      name: client.name,
      version: packages[client.package],
      opens,
      tools,
      strict,
      call,
      refusal,
      ...(calls !== undefined && { callsToGoal: calls }),
      transcript: transcriptOf(exchanges),
      badToken,
    };
    return call && refusal && calls !== undefined
      ? about
      : { ...about, trouble: `${told.slice(-800)}\n${[...model.tools()].join(' ')}` };
  } finally {
    await Promise.all([recorder.close(), model.close(), refused.close()]);
  }
}

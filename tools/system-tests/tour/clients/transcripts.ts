/**
 * Recorded messages of coding agents. `npm run clients -- --write` records them, and a spec sends them to the
 * gateway again, so that a change of the gateway is tested against real clients without their packages.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { type Exchange } from './recorder.ts';
import { executionIdPattern, leaseTokenPattern, withoutEscapes } from './stub-model.ts';

const file = path.join(import.meta.dirname, 'transcripts.json');

const Message = z.object({ headers: z.record(z.string(), z.string()), body: z.unknown() });
/** Messages in which the values of the recorded run are replaced by placeholders. */
export type Transcript = readonly z.infer<typeof Message>[];

/** Values that each run has of its own, with their placeholders. */
const runValues = {
  '{executionId}': executionIdPattern,
  '{leaseToken}': leaseTokenPattern,
} as const;

/** Finds the values of the placeholders in the answers. */
function valuesIn(answers: readonly string[]): Map<string, string> {
  const text = withoutEscapes(answers.join('\n'));
  return new Map(
    Object.entries(runValues).flatMap(([placeholder, pattern]): [string, string][] => {
      const value = pattern.exec(text)?.[1];
      return value === undefined ? [] : [[placeholder, value]];
    }),
  );
}

export function transcriptOf(exchanges: readonly Exchange[]): Transcript {
  const values = valuesIn(exchanges.map(({ answer }) => answer));
  return exchanges.map(({ headers, body }) => {
    const text = [...values].reduce(
      (kept, [placeholder, value]) => kept.replaceAll(value, placeholder),
      body,
    );
    return { headers, body: JSON.parse(text) as unknown };
  });
}

const isToolCall = ({ body }: Exchange): boolean => /"method": ?"tools\/call"/.test(body);

/** Returns the number of tool calls until the work was submitted. Undefined if it was not. */
export function callsToGoal(exchanges: readonly Exchange[]): number | undefined {
  const calls = exchanges.filter(isToolCall);
  const last = calls.findIndex(({ answer }) => answer.includes('"state":"submitted"'));
  return last === -1 ? undefined : last + 1;
}

/** Sends the messages of a client again, as the owner of the token. */
export async function replay(transcript: Transcript, url: string, token: string): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  for (const { headers, body: recorded } of transcript) {
    const values = valuesIn(exchanges.map(({ answer }) => answer));
    const body = [...values].reduce(
      (text, [placeholder, value]) => text.replaceAll(placeholder, value),
      JSON.stringify(recorded),
    );
    const sent = { ...headers, authorization: `Bearer ${token}` };
    const response = await fetch(url, { method: 'POST', headers: sent, body });
    exchanges.push({ headers, body, answer: await response.text() });
  }
  return exchanges;
}

export const readTranscripts = async (): Promise<ReadonlyMap<string, Transcript>> =>
  new Map(
    Object.entries(z.record(z.string(), z.array(Message)).parse(JSON.parse(await readFile(file, 'utf8')))),
  );

export const writeTranscripts = (transcripts: ReadonlyMap<string, Transcript>): Promise<void> =>
  writeFile(file, `${JSON.stringify(Object.fromEntries(transcripts), null, 1)}\n`);

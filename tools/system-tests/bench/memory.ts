/** Values of an answer that a connection remembers for its next requests, such as a lease token. */

import { type LoadRequest, type Remember } from './load-request.ts';

export type Memory = Record<string, string>;

const placeOf = /\{\{(\w+)\}\}/g;

/** Returns the placeholder for a value that an earlier answer contained. */
export const recall = (name: string): string => `{{${name}}}`;

export const recalls = (text: string): boolean => text.search(placeOf) >= 0;

/** Replaces placeholders by remembered values. Throws if a value is unknown. */
export const fill = (text: string, memory: Memory): string =>
  text.replaceAll(placeOf, (_place, name: string) => {
    const value = memory[name];
    if (value === undefined) throw new Error(`nothing is remembered as ${name}`);
    return value;
  });

/** Remembers the wanted values of an answer, which is JSON text. */
export function keep(memory: Memory, wanted: Remember, answer: string): void {
  const parsed = JSON.parse(answer) as unknown;
  for (const [name, place] of Object.entries(wanted)) {
    const value = place
      .split('.')
      .reduce<unknown>((node, word) => (node as Record<string, unknown> | undefined)?.[word], parsed);
    if (typeof value !== 'string') throw new Error(`the answer has no text at ${place}`);
    memory[name] = value;
  }
}

/** Sends the requests of one connection, one after the other. Throws if one is refused. */
export async function sendInTurn(url: string, requests: readonly LoadRequest[]): Promise<void> {
  const memory: Memory = {};
  for (const { path, headers, body, remember } of requests) {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: fill(body, memory) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${url}${path}: ${answer.status} ${text}`);
    if (remember !== undefined) keep(memory, remember, text);
  }
}

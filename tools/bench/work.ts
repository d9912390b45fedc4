/** What a work is, and how its requests are made. */
import { pathOf } from '@muster/registry';
import { type BarePath } from './bare-statements.ts';
import { type BenchOrg, type BenchProject } from './data.ts';
import { type LoadRequest } from './load-request.ts';

export const connections = 32;
/** Different requests of one connection, which it repeats. */
const requestsPerLane = 64;

/** One request, as the product takes it and as the bare server does. */
export interface Twin {
  readonly muster: LoadRequest;
  readonly bare: LoadRequest;
}

/** Something that is measured on both sides. */
export interface Work {
  readonly name: string;
  readonly operation: string;
  readonly isWrite: boolean;
  /** What each write of it is counted by; events unless told. */
  readonly leaves?: 'activity' | 'audit';
  /** The least share of the bare rate, by the goals; null: shown, not judged. */
  readonly goal: number | null;
  /** By the goals, the most that 99 of 100 calls may take. */
  readonly mostP99Millis?: number;
  /** How many call at once; all connections unless told. */
  readonly callers?: number;
  /** What one connection sends, again and again. */
  lane(orgs: readonly BenchOrg[], connection: number): Twin[];
}

const json = { 'content-type': 'application/json' };

export const twin = (
  org: BenchOrg,
  operation: string,
  barePath: BarePath,
  params: Record<string, unknown>,
  bareOnly: Record<string, unknown> = {},
): Twin => ({
  muster: {
    path: pathOf(operation),
    headers: { ...json, authorization: `Bearer ${org.token}` },
    body: JSON.stringify(params),
  },
  bare: {
    path: barePath,
    headers: json,
    body: JSON.stringify({ ...params, ...bareOnly, orgId: org.orgId, actor: org.actor }),
  },
});

/** The element there, round and round. */
export function pick<Element>(elements: readonly Element[], index: number): Element {
  const element = elements[index % elements.length];
  if (element === undefined) throw new Error('nothing to pick from');
  return element;
}

export const times = (make: (index: number) => Twin): Twin[] =>
  Array.from({ length: requestsPerLane }, (_, index) => make(index));

/** Connections are spread over the organizations first, then over the busy projects of each. */
export function placeOf(
  orgs: readonly BenchOrg[],
  connection: number,
): { org: BenchOrg; project: BenchProject; seat: number } {
  const org = pick(orgs, connection);
  const turn = Math.floor(connection / orgs.length);
  return { org, project: pick(org.busy, turn), seat: Math.floor(turn / org.busy.length) };
}

/** The definition of a workload, and helpers that create its requests. */
import { pathOf } from '@muster/contract';
import { type BarePath } from './bare-statements.ts';
import { type BenchOrg, type BenchProject } from './data.ts';
import { type LoadRequest } from './load-request.ts';

export const connections = 32;
/** The number of different requests that one connection repeats. */
const requestsPerLane = 64;

/** One request in the product's format and in the bare server's format. */
export interface Twin {
  readonly muster: LoadRequest;
  readonly bare: LoadRequest;
}

/** A workload: an operation or a sequence of operations that is measured on both servers. */
export interface Workload {
  readonly name: string;
  readonly operation: string;
  readonly isWrite: boolean;
  /** The stream to which each write of the workload adds an entry. `activity` if it is undefined. */
  readonly leaves?: 'activity' | 'audit';
  /**
   * The lowest acceptable rate, as a share of the bare server's rate. If it is null, the result is shown
   * without a verdict.
   */
  readonly goal: number | null;
  /** The highest acceptable 99th percentile in milliseconds. */
  readonly mostP99Millis?: number;
  /** The number of concurrent callers. All connections if it is undefined. */
  readonly callers?: number;
  /** Returns the requests that one connection repeats. */
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

/** Returns the element at this index, and starts from the beginning after the last one. */
export function pick<Element>(elements: readonly Element[], index: number): Element {
  const element = elements[index % elements.length];
  if (element === undefined) throw new Error('nothing to pick from');
  return element;
}

export const times = (make: (index: number) => Twin): Twin[] =>
  Array.from({ length: requestsPerLane }, (_, index) => make(index));

/**
 * Assigns a connection to an organization and a busy project. Connections are spread over organizations
 * first, then over projects.
 */
export function placeOf(
  orgs: readonly BenchOrg[],
  connection: number,
): { org: BenchOrg; project: BenchProject; seat: number } {
  const org = pick(orgs, connection);
  const turn = Math.floor(connection / orgs.length);
  return { org, project: pick(org.busy, turn), seat: Math.floor(turn / org.busy.length) };
}

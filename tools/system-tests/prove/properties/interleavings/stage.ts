/**
 * Runs two calls on two connections, one of which is held at a chosen statement, and checks what both were
 * answered.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type ProofBoard, type BoardPolicy, makeBoard, type TargetName } from '../../board.ts';
import { type Grant } from '../../calls.ts';
import { type GuardRemoval } from '../../guards.ts';
import { countOf, type Scope } from '../../services.ts';
import {
  type CallResult,
  callAt,
  type Desk,
  findTeam,
  must,
  type Name,
  openDesk,
  type TestTeam,
} from '../../team.ts';
import { matches } from '../lease-model/command.ts';
import { brokenInvariants } from '../lease-model/invariants.ts';
import { createReal, type Real } from '../lease-model/real.ts';
import { type Act } from './acts.ts';

/** The connection that prepares a scene, without any faults. */
export interface Arranging {
  readonly real: Real;
  grant(person: Name, target: TargetName): Promise<Grant>;
  must<Arranged>(act: Act<Arranged>, arranged: Arranged): Promise<Record<string, unknown>>;
}

function arrangingOn(board: ProofBoard, desk: Desk): Arranging {
  const real = createReal(board, desk, new Map());
  return {
    real,
    must: (act, arranged) => must(real.call(act.call(real.calls, arranged))),
    grant: async (person, target) => {
      const granted = await must(real.call(real.calls.acquire(person, target)));
      const { id } = granted['execution'] as { id: string };
      return { person, executionId: id, leaseToken: String(granted['leaseToken']) };
    },
  };
}

/** A scene: its preparation, the two competing calls, and the required outcome. */
export interface Interleaving<Arranged = unknown> {
  readonly name: string;
  readonly policy?: Partial<BoardPolicy>;
  readonly arrange?: (at: Arranging) => Promise<Arranged>;
  /** The call that starts first and is held at its statement. */
  readonly left: Act<Arranged>;
  /** The call that starts during the hold. It runs until it finishes or waits for a lock. */
  readonly right: Act<Arranged>;
  /** A call that runs while `left` is still held. */
  readonly between?: Act<Arranged>;
  /** The reason for which the second call must be refused; without one it must succeed. */
  readonly expectedRefusal?: string;
  readonly expectedFirstRefusal?: string;
  /** The expected fields of the board after both calls. */
  readonly expectedBoard?: Readonly<Record<string, unknown>>;
  /** The expected event kinds of the newest execution on the first story. */
  readonly expectedEventKinds?: readonly string[];
  /** Guards that decide the outcome. Without any one of them the outcome must be wrong. */
  readonly guards?: readonly { readonly name: string; readonly removals: readonly GuardRemoval[] }[];
}

/** Erases the type of the arrangement, which only the scene's own acts use. */
export const scene = <Arranged>(of: Interleaving<Arranged>): Interleaving => of as Interleaving;

export interface Stage {
  readonly team: TestTeam;
  readonly left: Desk;
  readonly right: Desk;
  readonly aside: Desk;
}

export async function setStage(services: Scope, removals: readonly GuardRemoval[] = []): Promise<Stage> {
  const team = await findTeam(services);
  const left = await openDesk(team, services, { removals, max: 1 });
  const right = await openDesk(team, services, { removals, max: 1 });
  return { team, left, right, aside: await openDesk(team, services, { max: 1 }) };
}

/** Plays a scene and returns the differences from its required outcome. */
export async function play(stage: Stage, scene: Interleaving): Promise<{ wrong: string[]; waited: boolean }> {
  const { team, left, right } = stage;
  const policy = {
    agentsMayComplete: true,
    requireMergeProof: false,
    completeStoryOnMerge: true,
    ...scene.policy,
  };
  const board = await makeBoard(team, policy);
  const at = arrangingOn(board, stage.aside);
  const { calls } = at.real;
  const arranged = await scene.arrange?.(at);
  const outcomeAt = (desk: Desk, act: Act<unknown>): Promise<string> =>
    heard(callAt(desk, team, act.call(calls, arranged)));

  const gate = left.tap.holdBefore(scene.left.heldBefore);
  const first = outcomeAt(left, scene.left);
  // A call that is refused early never reaches the statement before which it would be held.
  const early = await Promise.race([first, gate.reached.then(() => null)]);
  if (early !== null)
    throw new Error(`${scene.name}: the first one never came to its place, but to ${early}`);
  const second = outcomeAt(right, scene.right);
  const waited = await waitsForLock(stage, second);
  if (scene.between !== undefined) await at.must(scene.between, arranged);
  gate.open();

  const wrong: string[] = [];
  const same = (what: string, is: unknown, wanted: unknown): void => {
    if (!matches(is, wanted))
      wrong.push(`${scene.name}: ${what} is ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`);
  };
  same('the first', await first, scene.expectedFirstRefusal ?? 'done');
  same('the second', await second, scene.expectedRefusal ?? 'done');
  const view = await at.real.view();
  for (const [what, wanted] of Object.entries(scene.expectedBoard ?? {})) same(what, view[what], wanted);
  if (scene.expectedEventKinds !== undefined)
    same('the stream', await streamOf(board), scene.expectedEventKinds);
  wrong.push(...(await brokenInvariants(board)).map((broken) => `${scene.name}: ${broken}`));
  return { wrong, waited };
}

const heard = (answer: Promise<CallResult>): Promise<string> =>
  answer.then(
    (given) => ('refused' in given ? given.refused : 'done'),
    (error: unknown) => `fault: ${error instanceof Error ? error.message : String(error)}`,
  );

/**
 * Waits until the call has ended or its connection waits for a lock. Returns true if the connection waits.
 */
async function waitsForLock({ team, right }: Stage, call: Promise<string>): Promise<boolean> {
  const over = new AbortController();
  void call.then(() => {
    over.abort();
  });
  for (;;) {
    const waits = await countOf(
      team.database.owner,
      `pg_stat_activity where pid = any ($1) and wait_event_type = 'Lock'`,
      [right.tap.pids()],
    );
    if (over.signal.aborted) return false;
    if (waits > 0) return true;
    await pause(1);
  }
}

/** Returns the event kinds of the newest execution on the first story, in order. */
async function streamOf({ team, ids }: ProofBoard): Promise<string[]> {
  const { rows } = await team.database.owner.query<{ kind: string }>(
    `select v.kind from execution_events v where v.org_id = $1 and v.execution_id =
       (select e.id from executions e where e.org_id = $1 and e.target_id = $2 order by e.id desc limit 1)
     order by v.seq`,
    [team.orgId, ids.s1],
  );
  return rows.map(({ kind }) => kind);
}

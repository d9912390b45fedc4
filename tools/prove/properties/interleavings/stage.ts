/** Two connections that meet where they are told to, and what each of them heard. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Board,
  type BoardPolicy,
  makeBoard,
  type StoryName,
  type TargetName,
  typeOf,
} from '../../board.ts';
import { type Person } from '../../organization.ts';
import { type Scope } from '../../services.ts';
import { type Removal } from '../../guards.ts';
import {
  type Answer,
  type Desk,
  findTeam,
  type Name,
  openDesk,
  joinForAWhile,
  type Team,
} from '../../team.ts';
import { brokenInvariants } from '../lease-model/invariants.ts';
import { onBoard, type Real } from '../lease-model/real.ts';

/** A lease that was granted, as its holder knows it. */
export interface Grant {
  readonly person: Name;
  readonly executionId: string;
  readonly leaseToken: string;
}

/** Somebody at a connection. */
export interface Hand {
  acquire(person: Name, target: TargetName, options?: { takeOver?: boolean }): Promise<Answer>;
  /** An operation of a holder. */
  hold(operation: string, grant: Grant, params?: Record<string, unknown>): Promise<Answer>;
  stop(person: Name, executionId: string): Promise<Answer>;
  move(person: Name, story: StoryName, status: string): Promise<Answer>;
  observe(person: Name, executionId: string, kind: string): Promise<Answer>;
  /** Files of a story: for no work, or for that of a grant. */
  lock(person: Name, story: StoryName, grant?: Grant): Promise<Answer>;
  call(person: Person, operation: string, params: Record<string, unknown>): Promise<Answer>;
}

function handOf(board: Board, desk: Desk): Hand {
  const call = (person: Name, operation: string, params: Record<string, unknown>): Promise<Answer> =>
    desk.call(board.team.people[person], operation, params);
  return {
    call: (person, operation, params) => desk.call(person, operation, params),
    lock: (person, story, grant) =>
      call(person, 'locks.acquire', {
        ...{ projectId: board.projectId, resources: [`${story}/**`], ttlSeconds: 60 },
        executionId: grant?.executionId,
      }),
    acquire: (person, target, options = {}) =>
      call(person, 'deliveryExecutions.acquire', {
        ...{ targetType: typeOf(target), targetId: board.ids[target] },
        ...options,
      }),
    hold: (operation, { person, executionId, leaseToken }, params = {}) =>
      call(person, `deliveryExecutions.${operation}`, { executionId, leaseToken, ...params }),
    stop: (person, executionId) =>
      call(person, 'deliveryExecutions.update', { executionId, requestStop: true }),
    move: (person, story, status) =>
      call(person, 'stories.updateStatus', { storyId: board.ids[story], status }),
    observe: (person, executionId, kind) =>
      call(person, 'deliveryExecutions.recordForgeObservation', {
        executionId,
        observation: { kind, dedupeKey: kind, observedAt: '2026-01-01T00:00:00.000Z' },
      }),
  };
}

/** What an interleaving is set up with: a connection of its own, which nothing is done to. */
export interface Arranging extends Hand {
  grant(person: Name, target: TargetName): Promise<Grant>;
  readonly real: Real;
  readonly board: Board;
  /** A member who may go, an agent of theirs, and an admin who may remove both. */
  newcomer(): Promise<{
    readonly newcomer: Person;
    readonly agent: Person;
    readonly admin: Person;
    readonly board: Board;
  }>;
}

function arrangingOn(board: Board, desk: Desk): Arranging {
  const hand = handOf(board, desk);
  return {
    ...hand,
    board,
    real: onBoard(board, desk, new Map()),
    newcomer: async () => ({ ...(await joinForAWhile(board.team)), board }),
    grant: async (person, target) => {
      const { execution, leaseToken } = resultOf(await hand.acquire(person, target));
      const { id } = execution as { id: string };
      return { person, executionId: id, leaseToken: String(leaseToken) };
    },
  };
}

export function resultOf(answer: Answer): Record<string, unknown> {
  if ('result' in answer) return answer.result;
  throw new Error(`refused: ${answer.refused}`);
}

/** A scene: what was before, who meets whom where, and what must have come of it. */
export interface Interleaving<Arranged = unknown> {
  readonly name: string;
  readonly policy?: Partial<BoardPolicy>;
  arrange(at: Arranging): Promise<Arranged>;
  /** Goes first, and is held before a statement with this text. */
  readonly heldBefore: string;
  left(hand: Hand, arranged: Arranged): Promise<Answer>;
  /** Comes meanwhile, and goes on until it is done or waits for a lock. */
  right(hand: Hand, arranged: Arranged): Promise<Answer>;
  /** While the left one is still held. */
  between?(at: Arranging, arranged: Arranged): Promise<void>;
  /** The one outcome that there may be: `done`, or the reason of the refusal. */
  readonly allowed: { readonly left: string; readonly right: string };
  /** What is then there, of the view of the board; and the stream of the newest execution on the first story. */
  readonly after: Readonly<Record<string, unknown>>;
  readonly stream?: readonly string[];
  /** Without these guards something else must come of it. */
  readonly guards?: readonly { readonly name: string; readonly removals: readonly Removal[] }[];
}

export interface Stage {
  readonly team: Team;
  readonly left: Desk;
  readonly right: Desk;
  readonly aside: Desk;
}

export async function setStage(services: Scope, removals: readonly Removal[] = []): Promise<Stage> {
  const team = await findTeam(services);
  const left = await openDesk(team, services, { removals, max: 1 });
  const right = await openDesk(team, services, { removals, max: 1 });
  return { team, left, right, aside: await openDesk(team, services, { max: 1 }) };
}

/** Plays a scene and answers what is wrong with its end. */
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
  const arranged = await scene.arrange(at);

  const gate = left.tap.holdBefore(scene.heldBefore);
  const first = heard(scene.left(handOf(board, left), arranged));
  // Who is refused before it gets there never does.
  const early = await Promise.race([first, gate.reached.then(() => null)]);
  if (early !== null)
    throw new Error(`${scene.name}: the first one never came to its place, but to ${early}`);
  const second = heard(scene.right(handOf(board, right), arranged));
  const waited = await waitsForLock(stage, second);
  await scene.between?.(at, arranged);
  gate.open();
  const outcome = { left: await first, right: await second };

  const wrong: string[] = [];
  const same = (what: string, is: unknown, wanted: unknown): void => {
    if (!has(is, wanted)) {
      wrong.push(`${scene.name}: ${what} is ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`);
    }
  };
  same('the first', outcome.left, scene.allowed.left);
  same('the second', outcome.right, scene.allowed.right);
  const view = await at.real.view();
  for (const [what, wanted] of Object.entries(scene.after)) same(what, view[what], wanted);
  if (scene.stream !== undefined) same('the stream', await streamOf(board), scene.stream);
  wrong.push(...(await brokenInvariants(board)).map((broken) => `${scene.name}: ${broken}`));
  return { wrong, waited };
}

const heard = (answer: Promise<Answer>): Promise<string> =>
  answer.then(
    (given) => ('refused' in given ? given.refused : 'done'),
    (error: unknown) => `fault: ${error instanceof Error ? error.message : String(error)}`,
  );

/** Until the call is over, or its connection waits for a lock that another holds; whether it waits. */
async function waitsForLock({ team, right }: Stage, call: Promise<string>): Promise<boolean> {
  const over = new AbortController();
  void call.then(() => {
    over.abort();
  });
  for (;;) {
    const { rows } = await team.database.owner.query<{ waits: boolean }>(
      `select count(*) > 0 as waits from pg_stat_activity where pid = any ($1) and wait_event_type = 'Lock'`,
      [right.tap.pids()],
    );
    if (over.signal.aborted) return false;
    if (rows[0]?.waits === true) return true;
    await pause(1);
  }
}

/** What happened to the newest execution on the first story, in the words of its stream. */
async function streamOf({ team, ids }: Board): Promise<string[]> {
  const { rows } = await team.database.owner.query<{ kind: string }>(
    `select v.kind from execution_events v where v.org_id = $1 and v.execution_id =
       (select e.id from executions e where e.org_id = $1 and e.target_id = $2 order by e.id desc limit 1)
     order by v.seq`,
    [team.orgId, ids.s1],
  );
  return rows.map(({ kind }) => kind);
}

/** Of a record, only what is wanted is looked at. */
function has(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) {
    return JSON.stringify(actual) === JSON.stringify(wanted);
  }
  if (typeof actual !== 'object' || actual === null) return false;
  const seen = new Map(Object.entries(actual));
  return Object.entries(wanted).every(([key, value]) => has(seen.get(key), value));
}

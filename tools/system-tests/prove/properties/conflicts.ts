/**
 * Agents take the next story again and again, from a board whose stories touch the same files. An oracle that
 * lists all paths of a small repository says which stories have one in common.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Dice } from '@muster/tools';
import { without } from '../guards.ts';
import { type TestUser } from '../organization.ts';
import { property, type RunProperty } from '../property.ts';
import { type Desk, findTeam, must, openDesk, type TestTeam } from '../team.ts';

interface Extent {
  readonly boards: number;
  readonly stories: number;
}

const short: Extent = { boards: 1, stories: 24 };
const long: Extent = { boards: 25, stories: 40 };

const agentCount = 8;
/** The number of searches in a row that may find nothing. After that the remaining stories are starved. */
const maxEmptySearches = 2_000;

const names = ['a', 'b', 'c'];
const below = (paths: readonly string[]): string[] =>
  paths.flatMap((path) => names.map((name) => `${path}/${name}`));

/**
 * All paths of at most five segments. If two patterns of at most three segments share a path, they share one
 * of these: three segments of one, and two more below it.
 */
function allPaths(): string[] {
  const levels = [names];
  while (levels.length < 5) levels.push(below(levels.at(-1) ?? []));
  return levels.flat();
}
const paths = allPaths();

/** Matches the segments of a path by the definition of a glob; a path without wildcards covers all below it. */
function matches(pattern: readonly string[], path: readonly string[], coversBelow: boolean): boolean {
  const [first, ...rest] = pattern;
  const [segment, ...others] = path;
  if (first === undefined) return segment === undefined || coversBelow;
  if (segment === undefined) return false;
  if (first !== '**') return (first === '*' || first === segment) && matches(rest, others, coversBelow);
  if (rest.length === 0) return true;
  return matches(rest, path, coversBelow) || matches(pattern, others, coversBelow);
}

const covers = (pattern: string, path: string): boolean =>
  matches(pattern.split('/'), path.split('/'), !pattern.includes('*'));

const pathsOf = (touches: readonly string[]): ReadonlySet<string> =>
  new Set(paths.filter((path) => touches.some((pattern) => covers(pattern, path))));

function newPattern(dice: Dice): string {
  const segments = Array.from({ length: dice.between(1, 3) }, () =>
    dice.pick([...names, ...names, '*', '**']),
  );
  // A pattern of wildcards alone would conflict with every story.
  return segments.every((segment) => segment.startsWith('*')) ? dice.pick(names) : segments.join('/');
}

interface Story {
  readonly id: string;
  readonly touches: readonly string[];
  readonly paths: ReadonlySet<string>;
}

interface Board {
  readonly team: TestTeam;
  readonly desk: Desk;
  readonly projectId: string;
  readonly stories: ReadonlyMap<string, Story>;
  /** Stories whose agents have not begun to end their work. All of them have live leases. */
  readonly held: Set<Story>;
  readonly done: Set<string>;
  readonly violations: string[];
  readonly counts: { searches: number; conflicts: number };
}

async function newBoard(team: TestTeam, desk: Desk, dice: Dice, count: number): Promise<Board> {
  const { ana } = team.people;
  // Runs share the organization, so the key is random.
  const key = `P${randomBytes(4).toString('hex').toUpperCase()}`;
  const { project } = await must(desk.call(ana, 'projects.create', { key, name: 'Conflicts' }));
  const { id: projectId } = project as { id: string };
  const stories = new Map<string, Story>();
  for (let index = 0; index < count; index += 1) {
    const touches = Array.from({ length: dice.between(1, 3) }, () => newPattern(dice));
    const draft = { projectId, title: `Story ${index}`, status: 'ready', touches };
    const { story } = await must(desk.call(ana, 'stories.create', draft));
    const { id } = story as { id: string };
    stories.set(id, { id, touches, paths: pathsOf(touches) });
  }
  const counts = { searches: 0, conflicts: 0 };
  return { team, desk, projectId, stories, held: new Set(), done: new Set(), violations: [], counts };
}

/** Takes stories and ends the work on them, until all stories are done. */
async function work({ desk, projectId, stories, held, done, violations, counts }: Board, agent: TestUser) {
  let emptySearches = 0;
  while (done.size < stories.size && violations.length === 0) {
    const answer = await must(desk.call(agent, 'deliveryExecutions.acquireNext', { projectId }));
    counts.searches += 1;
    const { execution, leaseToken, skipped } = answer as {
      execution: { id: string; targetId: string } | null;
      leaseToken: string | null;
      skipped: { reasons: string[] }[];
    };
    counts.conflicts += skipped.filter(({ reasons }) => reasons.includes('conflict')).length;
    if (execution === null) {
      emptySearches += 1;
      if (emptySearches > maxEmptySearches)
        violations.push(`${stories.size - done.size} stories are never given to an agent`);
      await pause(2);
      continue;
    }
    emptySearches = 0;
    const story = stories.get(execution.targetId);
    if (story === undefined) throw new Error('a story of another board was taken');
    for (const other of held) {
      const shared = [...story.paths].find((path) => other.paths.has(path));
      if (shared !== undefined)
        violations.push(
          `two stories that touch ${shared} are held: ${story.touches.join()}; ${other.touches.join()}`,
        );
    }
    held.add(story);
    const lease = { executionId: execution.id, leaseToken };
    await must(desk.call(agent, 'deliveryExecutions.renew', lease));
    held.delete(story);
    await must(desk.call(agent, 'deliveryExecutions.complete', { ...lease, outcome: 'succeeded' }));
    done.add(story.id);
  }
}

const run: RunProperty<Extent> = async ({ seed, services }, { boards, stories }, removals) => {
  const dice = new Dice(seed);
  const team = await findTeam(services);
  const desk = await openDesk(team, services, { removals, max: agentCount });
  const { email } = team.people.chloe;
  const agents: TestUser[] = [];
  for (let index = 1; index <= agentCount; index += 1)
    agents.push(await team.enter(email, { scopes: ['write'], agent: `Worker ${index}` }));
  const violations: string[] = [];
  const figures = { stories: 0, searches: 0, conflicts: 0 };
  for (let nth = 0; nth < boards && violations.length === 0; nth += 1) {
    const board = await newBoard(team, desk, dice, stories);
    await Promise.all(agents.map((agent) => work(board, agent)));
    violations.push(...board.violations);
    figures.stories += board.done.size;
    figures.searches += board.counts.searches;
    figures.conflicts += board.counts.conflicts;
  }
  if (removals.length === 0 && figures.conflicts === 0) violations.push('no story was in conflict');
  return { violations, figures: { agents: agentCount, ...figures } };
};

export const conflicts = property<Extent>({
  name: 'conflicts',
  promise:
    'However many agents ask for the next story at the same time: no two of them hold stories that touch the same path, and each story is given to one of them.',
  short,
  long,
  run,
  controls: [
    {
      name: 'two searches compare at the same time',
      extent: { ...short, boards: 12 },
      without: [without('stories are compared one after the other', 'abs')],
    },
    {
      name: 'the work of others is not compared',
      // Ends at the first board on which two overlapping stories are held at the same time.
      extent: { ...short, boards: 12 },
      without: [without('stories are compared with the work of others', 'false')],
    },
  ],
});

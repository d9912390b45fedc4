/**
 * A day of two agents that only use MCP, in core mode. The first agent finds work, edits its spec, asks a
 * question, waits for the answer and hands the work over. The second continues, loses its context, receives
 * the request to stop, and releases the work. A member withdraws the request, and the first agent submits the
 * work.
 */
import { z } from 'zod';
import { check, type Check } from '../check.ts';
import { type Instance } from '../instance.ts';
import { Journal } from '../journal.ts';
import { Outing } from '../outing.ts';
import { foundTeam } from '../team.ts';
import { type McpLine, openLine, Tally, type ToolResult } from './line.ts';

/** The limits of a day's cost for a model: calls, and tokens of the answers. */
const mostCalls = 15;
const mostTokens = 4_500;

/** The run of the first agent, and the run of the second. */
const [runId, theirRun] = ['night-shift', 'morning-shift'];
const paths = ['src/fares/**'];
const morePaths = ['docs/fares.md'];

interface Held {
  readonly executionId: string;
  readonly leaseToken: string;
}
const Begun = z.object({
  execution: z.object({ id: z.string() }),
  leaseToken: z.string(),
});
const Signals = z.object({ signals: z.array(z.looseObject({ kind: z.string() })) });
const Refused = z.object({ error: z.object({ details: z.object({ currentVersion: z.int() }) }) });
const Question = z.object({ comment: z.object({ id: z.string() }) });
const Runs = z.object({
  items: z.array(z.object({ runId: z.string().nullable(), agent: z.object({ id: z.string() }).nullable() })),
});

const good = ({ isError, text, value }: ToolResult): ToolResult['value'] => {
  if (isError) throw new Error(text);
  return value;
};
const kindsIn = (value: unknown): string[] => Signals.parse(value).signals.map(({ kind }) => kind);

/** Creates two agents of different members, and a board with a story and another story that waits for it. */
async function arrange(instance: Instance, journal: Journal, orgSlug: string) {
  const team = await foundTeam(instance, journal, orgSlug);
  const { ana } = team;
  const { project } = await ana.api.projects.create({ key: 'FARE', name: 'Fares and parcels' });
  const { story: wanted } = await ana.api.stories.create({
    ...{ projectId: project.id, title: 'Round fares to the cent', status: 'ready', priority: 'high' },
    spec: '# Rounding\n\nFares are rounded half up.\n',
  });
  const { story: waiting } = await ana.api.stories.create({
    ...{ projectId: project.id, title: 'Print rounded fares', status: 'ready', priority: 'urgent' },
    blockedBy: [wanted.id],
  });
  return { team, wanted, waiting };
}

interface Day extends Awaited<ReturnType<typeof arrange>> {
  /** The connections of the first and of the second agent to the gateway. */
  readonly mine: McpLine;
  readonly theirs: McpLine;
  readonly tally: Tally;
  /** The numbers of calls and tokens at the time when the work was submitted. */
  readonly counted: { calls: number; tokens: number };
  readonly heard: Check;
  readonly told: Check;
  /** The work in progress, held by either agent. */
  work: Held;
}

async function beginDay(instance: Instance, orgSlug: string): Promise<Day> {
  const tally = new Tally();
  const journal = new Journal(instance.baseUrl, orgSlug);
  const ground = await arrange(instance, journal, orgSlug);
  const { scout, sorter } = ground.team;
  return {
    ...{ ...ground, tally, counted: { calls: 0, tokens: 0 } },
    mine: openLine(instance.mcpUrl, scout.token, tally),
    theirs: openLine(instance.mcpUrl, sorter.token, tally),
    heard: check('the agents heard what they had to', () => 'an answer, a stop'),
    told: check('refusals said what to do', () => 'a conflict, what is blocked'),
    work: { executionId: '', leaseToken: '' },
  };
}

/** Remembers the execution that this answer started. */
function begin(day: Day, answer: ToolResult): void {
  const { execution, leaseToken } = Begun.parse(good(answer));
  day.work = { executionId: execution.id, leaseToken };
}

type Step = (day: Day) => Promise<string>;

const askWhoIAm: Step = async ({ mine, told, team: { orgSlug, scout } }) => {
  const identity = JSON.stringify(good(await mine.call('session_identity')));
  told.that(identity.includes(scout.name), () => `an agent is not told its own name: ${identity}`);
  return `${scout.name}, of ${orgSlug}`;
};

const takeWork: Step = async (day) => {
  const { mine, told, wanted, waiting } = day;
  const answer = await mine.call('next_work', { projectId: 'FARE', runId, resources: paths });
  begin(day, answer);
  told.that(answer.text.includes(waiting.key), () => `what was passed over is not told: ${answer.text}`);
  const locked = await mine.call('lock_paths', { ...day.work, resources: morePaths });
  for (const [{ text }, path] of [
    [answer, paths],
    [locked, morePaths],
  ] as const)
    told.that(text.includes(String(path)), () => `the lock is not mentioned: ${text}`);
  return `${wanted.key}, with ${[...paths, ...morePaths].join()}; ${waiting.key} waits for it`;
};

const writeSpec: Step = async ({ mine, wanted, team: { ana } }) => {
  await ana.api.storySpec.update({ storyId: wanted.id, content: '# Rounding\n\nHalf to even.\n' });
  const content = '# Rounding\n\nHalf to even, once for each ride.\n';
  const write = { storyId: wanted.key, content };
  const refused = await mine.call('storySpec_update', { ...write, baseVersion: 1 });
  const { currentVersion } = Refused.parse(refused.value).error.details;
  good(await mine.call('storySpec_update', { ...write, baseVersion: currentVersion }));
  return `on version ${currentVersion}`;
};

const askAndWait: Step = async ({ mine, heard, wanted, work, team: { ana } }) => {
  const asked = good(await mine.call('ask_question', { ...work, question: 'Per ride, or per day?' }));
  const { id } = Question.parse(asked).comment;
  await ana.api.comments.create({ storyId: wanted.id, parentId: id, body: 'For each ride.' });
  await ana.api.comments.resolve({ commentId: id });
  const waited = await mine.call('wait_for', { ...work });
  heard.that(kindsIn(good(waited)).includes('question_answered'), () => `no answer: ${waited.text}`);
  heard.that(waited.text.includes('For each ride.'), () => `not what was answered: ${waited.text}`);
  return 'For each ride.';
};

const handOn: Step = async ({ mine, work, team: { sorter } }) => {
  await sorter.api.agents.runEvent({ runId: theirRun, projectId: 'FARE', kind: 'started' });
  const find = { operation: 'agents.listActive', params: { projectId: 'FARE' } };
  const { items } = Runs.parse(good(await mine.call('call_read_operation', find)));
  const toAgentId = items.find(({ runId: run }) => run === theirRun)?.agent?.id;
  good(
    await mine.call('hand_off_work', {
      ...{ ...work, toAgentId, summary: 'Rounding is there', nextSteps: ['Test the fares of the night'] },
      note: 'Fares are yours.',
    }),
  );
  return `to ${sorter.name}`;
};

const goOnTwice: Step = async (day) => {
  const { theirs, heard, wanted, team } = day;
  const taken = await theirs.call('next_work', { projectId: 'FARE', runId: theirRun });
  begin(day, taken);
  for (const words of ['Test the fares of the night', 'Per ride, or per day?', 'For each ride.'])
    heard.that(taken.text.includes(words), () => `nothing of "${words}": ${taken.text}`);
  const { executionId } = day.work;
  begin(day, await theirs.call('next_work', { projectId: 'FARE', runId: theirRun }));
  heard.same(day.work.executionId, executionId, 'what it goes on with');
  return `${wanted.key}, by ${team.sorter.name}`;
};

const stopWhenAsked: Step = async ({ theirs, heard, work, team: { ana } }) => {
  await ana.api.deliveryExecutions.update({ executionId: work.executionId, requestStop: true });
  const written = await theirs.call('deliveryExecutions_checkpoint', {
    ...{ ...work, summary: 'Night fares are tested', nextSteps: ['Hand it in'] },
  });
  heard.that(kindsIn(good(written)).includes('stop_requested'), () => `no stop: ${written.text}`);
  good(await theirs.call('release_work', { ...work, reason: 'Ana asked me to stop.' }));
  return 'let go of, with a checkpoint';
};

const handIn: Step = async (day) => {
  const { mine, heard, wanted, tally, counted, team } = day;
  const { ana } = team;
  // A request to stop stays in force until a member withdraws it.
  await ana.api.deliveryExecutions.update({ executionId: day.work.executionId, requestStop: false });
  begin(day, await mine.call('start_work', { storyId: wanted.key, runId, resources: paths }));
  const pullRequest = { number: 7, url: 'https://github.com/acme/fares/pull/7' };
  good(await mine.call('submit_work', { ...day.work, summary: 'Fares are rounded', pullRequest }));
  await ana.api.deliveryExecutions.recordForgeObservation({
    executionId: day.work.executionId,
    observation: {
      kind: 'pr_merged',
      observedAt: new Date().toISOString(),
      dedupeKey: 'merged',
      ...pullRequest,
    },
  });
  counted.calls = tally.calls.length;
  counted.tokens = tally.answerTokens.reduce((sum, tokens) => sum + tokens, 0);
  const { story } = await ana.api.stories.get({ storyId: wanted.id });
  heard.same(story.status, 'done', 'the story');
  return `${wanted.key} is ${story.status}`;
};

const checkCost = ({ counted, tally }: Day): Check =>
  check('the day went by itself, at its price', (found) => {
    found.that(
      counted.calls > 0 && counted.calls <= mostCalls,
      () => `${counted.calls} calls: ${tally.calls.join()}`,
    );
    found.that(
      counted.tokens <= mostTokens,
      () =>
        `${counted.tokens} tokens, of ${mostTokens}: ${tally.calls.map((name, at) => `${name} ${tally.answerTokens[at] ?? 0}`).join()}`,
    );
    return `${counted.calls} calls, ${counted.tokens} tokens`;
  });

export async function spendAgentDay(instance: Instance, orgSlug: string): Promise<readonly Check[]> {
  const outing = new Outing();
  const day = await beginDay(instance, orgSlug);
  const step = (name: string, take: Step) => outing.step(name, () => take(day), day.tally);

  await step('Who am I, and where', askWhoIAm);
  await step('Take the next work', takeWork);
  await step('Write the spec that another changed', writeSpec);
  await step('Ask, and wait for the answer', askAndWait);
  await step('Hand the story to an agent that is already working', handOn);
  await step('Go on, and again with all forgotten', goOnTwice);
  await step('Hear that it is to stop, and let go', stopWhenAsked);
  await step('Hand it in, and see it land', handIn);
  return [outing.broken, day.told, day.heard, checkCost(day)];
}

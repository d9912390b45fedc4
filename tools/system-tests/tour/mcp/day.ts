/**
 * A day of three agents and two people that only use MCP, in core mode. The agents plan, claim, lock, ask, hand
 * over, submit, rework, stop and recover from a crash. The two people answer, review, merge and stop work; they
 * never type anything into an agent. Each agent knows only its project, its runId and what its calls returned.
 */
import { z } from 'zod';
import { check, type Check } from '../check.ts';
import { type Instance } from '../instance.ts';
import { Journal } from '../journal.ts';
import { Outing } from '../outing.ts';
import { foundTeam, joinByToken, withPool } from '../team.ts';
import { type CountedCall, type McpCaller, openLine } from './line.ts';

/** The limits of a day's cost for the model of one agent: calls, and tokens of the answers. */
const maxCalls = 15;
const maxTokens = 4_500;

const projectId = 'FARE';
const planRef = 'fares';
/** The agents, each with its member. A member may not approve the work of its own agents. */
const agentOwners = { Planner: 'ben', Coder: 'ana', Tester: 'ana' } as const;

type Args = Readonly<Record<string, unknown>>;

const Begun = z.object({ execution: z.object({ id: z.string() }), leaseToken: z.string() });
const Planned = z.object({ changes: z.array(z.object({ ref: z.string(), key: z.string() })) });
const HeldWork = z.object({ holding: z.array(z.object({ key: z.string(), runId: z.string() })) });
const InboxItem = z.object({
  kind: z.string(),
  text: z.string(),
  next: z.object({ params: z.record(z.string(), z.unknown()) }).optional(),
});
const Inbox = z.object({ items: z.array(InboxItem), cursor: z.int() });
const Progress = z.object({ progress: z.object({ total: z.int(), done: z.int() }) });

function expectWords(text: string, ...words: readonly string[]): void {
  const missing = words.filter((one) => !text.includes(one));
  if (missing.length > 0) throw new Error(`"${missing.join('", "')}" is missing in ${text}`);
}

/** A member or an agent, who receives the messages of its inbox in order. */
class Participant {
  readonly line: McpCaller;
  #cursor: number | undefined;

  constructor(line: McpCaller) {
    this.line = line;
  }

  write(operation: string, params: Args): Promise<string> {
    return this.line.call('call_write_operation', { operation, params });
  }

  /** Waits for a message of this kind with these words. Returns the parameters of the call that answers it. */
  async receive(kind: string, ...words: readonly string[]): Promise<Args> {
    const text = await this.line.call('wait_for', { after: this.#cursor });
    const { items, cursor } = Inbox.parse(JSON.parse(text));
    this.#cursor = cursor;
    const item = items.findLast((one) => one.kind === kind);
    if (item === undefined) throw new Error(`no message of kind ${kind} in ${text}`);
    expectWords(item.text, ...words);
    return item.next?.params ?? {};
  }
}

class Agent extends Participant {
  readonly runId: string;
  /** The work that the agent holds, or held last. */
  work = { executionId: '', leaseToken: '' };

  constructor(line: McpCaller, runId: string) {
    super(line);
    this.runId = runId;
  }

  async begin(tool: 'next_work' | 'start_work', args: Args): Promise<string> {
    const text = await this.line.call(tool, { runId: this.runId, ...args });
    const { execution, leaseToken } = Begun.parse(JSON.parse(text));
    this.work = { executionId: execution.id, leaseToken };
    return text;
  }

  /** Calls a tool about the work that the agent holds. */
  continue(tool: string, args: Args = {}): Promise<string> {
    return this.line.call(tool, { ...this.work, ...args });
  }

  submit(summary: string, number: number): Promise<string> {
    return this.continue('submit_work', { summary, pullRequest: pullRequestUrl(number) });
  }
}

const pullRequestUrl = (number: number): string => `https://github.com/acme/fares/pull/${number}`;

interface Day {
  readonly ana: Participant;
  readonly ben: Participant;
  readonly planner: Agent;
  readonly coder: Agent;
  readonly tester: Agent;
  readonly calls: readonly CountedCall[];
  /** The keys of the planned stories, by their refs in the plan. */
  readonly keys: Map<string, string>;
}

async function beginDay(instance: Instance, orgSlug: string): Promise<Day> {
  const journal = new Journal(instance.baseUrl, orgSlug);
  const { ana, ben } = await foundTeam(instance, journal, orgSlug);
  const calls: CountedCall[] = [];
  const joinAgent = (agent: keyof typeof agentOwners): Promise<Agent> =>
    withPool(instance, async (pool) => {
      const joining = { org: orgSlug, email: `${agentOwners[agent]}@tour.example`, agent };
      const teammate = await joinByToken(pool, instance, journal, joining);
      return new Agent(openLine(instance, teammate, calls), `${agent}-1`);
    });
  return {
    ...{ calls, keys: new Map() },
    ana: new Participant(openLine(instance, ana, calls)),
    ben: new Participant(openLine(instance, ben, calls)),
    planner: await joinAgent('Planner'),
    coder: await joinAgent('Coder'),
    tester: await joinAgent('Tester'),
  };
}

/** Reports a merge, as the webhook of a forge does. */
const merge = ({ ana }: Day, { work: { executionId } }: Agent, number: number): Promise<string> =>
  ana.write('deliveryExecutions.recordForgeObservation', {
    executionId,
    observation: {
      ...{ kind: 'pr_merged', number, url: pullRequestUrl(number) },
      ...{ observedAt: new Date().toISOString(), dedupeKey: `merged-${number}` },
    },
  });

const keyOf = ({ keys }: Day, ref: string): string => keys.get(ref) ?? '';

type Step = (day: Day) => Promise<string>;

/** The coder waits for work before any is planned. */
const planWork: Step = async (day) => {
  const { ana, planner, coder } = day;
  await ana.write('projects.create', { key: projectId, name: 'Fares and parcels' });
  const plan = async (): Promise<void> => {
    expectWords(await planner.line.call('session_identity'), 'Planner');
    const status = 'ready';
    const items = [
      { ref: 'round', title: 'Round fares to the cent', spec: 'Half up.', status, priority: 'urgent' },
      { ref: 'print', title: 'Print receipts', touches: ['src/print'], status },
      { ref: 'total', title: 'Print rounded totals', dependsOn: ['round'], status, priority: 'high' },
    ];
    const text = await planner.write('plans.apply', { projectId, planRef, items });
    for (const { ref, key } of Planned.parse(JSON.parse(text)).changes) day.keys.set(ref, key);
  };
  const waiting = coder.begin('next_work', { projectId, resources: ['src/fares/**'], waitSeconds: 25 });
  const [begun] = await Promise.all([waiting, plan()]);
  expectWords(begun, keyOf(day, 'round'), 'src/fares/**');
  return `${[...day.keys.values()].join()}; Coder has ${keyOf(day, 'round')}`;
};

const claimWithFreePaths: Step = async (day) => {
  const { planner } = day;
  const overlapping = { projectId, runId: planner.runId, resources: ['src/fares/night.ts'] };
  expectWords(await planner.line.callRefused('next_work', overlapping), 'Coder holds', 'src/fares/night.ts');
  const begun = await planner.begin('next_work', { projectId, resources: ['src/print'] });
  expectWords(begun, keyOf(day, 'print'), 'src/print');
  return `${keyOf(day, 'print')}, after a lock of Coder`;
};

const askAndGetAnswer: Step = async ({ ana, coder }) => {
  await coder.continue('lock_paths', { resources: ['docs/fares.md'] });
  await coder.continue('ask_question', { question: 'Per ride, or per day?', directedTo: '@ana' });
  const reply = await ana.receive('question', 'Per ride, or per day?');
  await ana.write('comments.create', { ...reply, body: 'For each ride.' });
  await ana.write('comments.resolve', { commentId: reply['parentId'] });
  expectWords(await coder.continue('wait_for'), 'question_answered', 'For each ride.');
  return 'For each ride.';
};

const handOver: Step = async (day) => {
  const { coder, tester } = day;
  await coder.continue('deliveryExecutions_checkpoint', { summary: 'Rides are rounded' });
  const summary = { summary: 'Rounding is there', nextSteps: ['Test the fares of the night'] };
  await coder.continue('hand_off_work', { ...summary, toAgentId: '@tester' });
  const { targetId } = await tester.receive('offer', 'Coder', keyOf(day, 'round'));
  const begun = await tester.begin('start_work', { storyId: targetId, resources: ['src/fares/**'] });
  expectWords(begun, 'Test the fares of the night', 'Per ride, or per day?', 'For each ride.');
  return `${keyOf(day, 'round')}, from Coder to Tester`;
};

/** The agent starts again with an empty context. It knows only its token. */
const recover: Step = async ({ tester }) => {
  const { executionId } = tester.work;
  const { holding } = HeldWork.parse(JSON.parse(await tester.line.call('session_identity')));
  const [held] = holding;
  if (held === undefined) throw new Error('the agent is not told that it holds work');
  await tester.begin('start_work', { storyId: held.key, runId: held.runId });
  if (tester.work.executionId !== executionId) throw new Error('the agent continues other work');
  return `${held.key} continues, with one look`;
};

const reworkAndApprove: Step = async (day) => {
  const { ana, ben, tester } = day;
  const storyId = keyOf(day, 'round');
  await ana.write('reviewers.add', { storyId, memberId: '@ben' });
  await tester.submit('Fares are rounded', 7);
  const note = 'Night fares are rounded twice.';
  await ben.write('reviewers.setVerdict', { storyId, verdict: 'changes_requested', note });
  const { targetId } = await tester.receive('verdict', 'Ben', note);
  expectWords(await tester.begin('start_work', { storyId: targetId }), note, 'in_progress');
  await tester.submit('Night fares are rounded once', 7);
  await ben.write('reviewers.setVerdict', { storyId, verdict: 'approved' });
  await tester.receive('verdict', 'Ben', 'approved');
  return `${storyId} is approved, after a rework`;
};

/** The merge unblocks a story that the coder waits for. */
const mergeAndUnblock: Step = async (day) => {
  const { coder, tester } = day;
  const waiting = coder.begin('next_work', { projectId, waitSeconds: 25 });
  const [begun] = await Promise.all([waiting, merge(day, tester, 7)]);
  await tester.receive('merged', keyOf(day, 'round'));
  expectWords(begun, keyOf(day, 'total'));
  return `${keyOf(day, 'round')} is merged, Coder has ${keyOf(day, 'total')}`;
};

const stopAndResume: Step = async (day) => {
  const { ana, planner } = day;
  const { executionId } = planner.work;
  await ana.write('deliveryExecutions.update', { executionId, requestStop: true });
  expectWords(await planner.continue('wait_for'), 'stop_requested');
  await planner.continue('deliveryExecutions_checkpoint', { summary: 'Half of the receipts' });
  await planner.continue('release_work', { reason: 'Ana asked me to stop.' });
  const next = await planner.line.call('next_work', { projectId, runId: planner.runId });
  expectWords(next, '"execution":null', 'stop_requested');
  await ana.write('deliveryExecutions.update', { executionId, requestStop: false });
  const { targetId } = await planner.receive('stop_lifted', 'Ana');
  expectWords(await planner.begin('start_work', { storyId: targetId }), 'Half of the receipts');
  return `${keyOf(day, 'print')} rests until Ana lifts the stop`;
};

const landTheRest: Step = async (day) => {
  const { ana, coder, planner } = day;
  for (const [agent, number] of [
    [coder, 8],
    [planner, 9],
  ] as const) {
    await agent.submit('It is there', number);
    await merge(day, agent, number);
    await agent.receive('merged');
  }
  const read = { operation: 'plans.get', params: { projectId, planRef } };
  const { progress } = Progress.parse(JSON.parse(await ana.line.call('call_read_operation', read)));
  if (progress.done !== 3 || progress.total !== 3) throw new Error(`${progress.done} of 3 stories are done`);
  return 'all of the plan is done';
};

function checkCost(calls: readonly CountedCall[], agent: string): Check {
  return check(`${agent}: at most ${maxCalls} calls and ${maxTokens} tokens`, (found) => {
    const own = calls.filter(({ caller }) => caller === agent);
    const tokens = own.reduce((sum, call) => sum + call.tokens, 0);
    found.that(own.length > 0 && own.length <= maxCalls && tokens <= maxTokens, () =>
      own.map((call) => `${call.tool} ${call.tokens}`).join(),
    );
    return `${own.length} calls, ${tokens} tokens`;
  });
}

export async function spendAgentDay(instance: Instance, orgSlug: string): Promise<readonly Check[]> {
  const outing = new Outing();
  const day = await beginDay(instance, orgSlug);
  const step = (name: string, take: Step) => outing.step(name, () => take(day), day);

  await step('Plan, while another waits for work', planWork);
  await step('Claim work, beside a held lock', claimWithFreePaths);
  await step('Ask, and get the answer', askAndGetAnswer);
  await step('Hand the work over', handOver);
  await step('Crash, and recover', recover);
  await step('Changes requested, rework, approval', reworkAndApprove);
  await step('Merge, and unblock the next story', mergeAndUnblock);
  await step('Stop, and go on when it is lifted', stopAndResume);
  await step('Land the rest', landTheRest);
  return [outing.broken, ...Object.keys(agentOwners).map((agent) => checkCost(day.calls, agent))];
}

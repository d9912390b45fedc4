/**
 * A day of three runners and a person on one board: each has a story of its own; an agent hears what a person says, a runner is
 * killed and goes on, an agent is asked to stop, and all is handed in.
 */
import { kill } from '../../dev/runner-machine.ts';
import { at } from '../attempts.ts';
import { Check, type Check as Kept } from '../check.ts';
import { checkAnswers } from '../checks/answers.ts';
import { until } from '../delivery/until.ts';
import { type Instance } from '../instance.ts';
import { Journal } from '../journal.ts';
import { Outing } from '../outing.ts';
import { foundTeam, type Team } from '../team.ts';
import { lives, openYard, type Post, told, type Yard } from './yard.ts';

const project = 'FARE';
const titles = [
  'Charge the card when the parcel leaves',
  'Show the drivers their next stop',
  'Retry a webhook that failed',
  'Round fares to the cent',
  'Import depots from a sheet',
];
/** A stop of an agent that is a command. */
const stopMillis = 25_000;
const words = 'Half to even, please.';

interface Day {
  readonly team: Team;
  readonly yard: Yard;
  /** The key of the story that each post has. */
  readonly stories: Map<Post, string>;
  readonly owners: Kept;
  readonly heard: Kept;
  readonly killed: Kept;
  readonly stopped: Kept;
  readonly end: Kept;
}

async function executionOf({ gwen }: Team, key: string) {
  const { execution } = await gwen.api.deliveryExecutions.getForTarget({
    targetType: 'story',
    targetId: key,
  });
  if (execution === null) throw new Error(`nobody has begun ${key}`);
  return execution;
}

/** What a post is at work on, once its agent is. */
async function begun({ yard }: Day, post: Post, before?: string): Promise<string> {
  const { story } = await until(`a story of ${post.who.name}'s runner`, 60, () =>
    Promise.resolve(post.working.told.find((one) => one.event === 'prepared' && one.story !== before)),
  );
  const key = story ?? '';
  await until(`the agent on ${key}`, 30, () => yard.agentOf(key));
  return key;
}

async function takeAll(day: Day, his: string): Promise<string> {
  const { team, yard, stories, owners } = day;
  await Promise.all(yard.posts.map(async (post) => stories.set(post, await begun(day, post))));
  const keys = [...stories.values()];
  owners.same(new Set([his, ...keys]).size, 4, 'how many stories four have');
  const { items } = await team.gwen.api.deliveryExecutions.list({ projectId: project, state: ['leased'] });
  owners.same(items.length, 4, 'how many leases there are');
  owners.same(new Set(items.map(({ lease }) => lease?.runId)).size, 4, 'how many runs hold them');
  for (const [{ who }, key] of stories) {
    const { lease } = await executionOf(team, key);
    owners.same(lease?.holder.memberId, who.memberId, `whose agent has ${key}`);
  }
  const { items: locked } = await team.gwen.api.stories.list({ projectId: project, status: ['in_progress'] });
  owners.same(locked.length, 4, 'how many stories are under way for who looks on');
  owners.detail = `${his} is ${team.ben.name}'s, ${keys.join(', ')} are of the runners`;
  return `${team.ben.name} has ${his}, the runners ${keys.join(', ')}`;
}

async function say({ team, yard, stories, heard }: Day): Promise<string> {
  const post = at(yard.posts, 0);
  const key = stories.get(post) ?? '';
  await team.ana.api.comments.create({ storyId: key, body: words });
  const execution = await executionOf(team, key);
  await until('the comment in the stream', 20, async () => {
    const { items } = await team.gwen.api.deliveryExecutions.eventsSince({
      ...{ executionId: execution.id, afterSeq: 0 },
    });
    return items.find(({ kind }) => kind === 'new_comments');
  });
  await until('the words on the machine', 20, async () =>
    (await yard.heardBy(post)).includes(words) ? true : undefined,
  );
  await yard.letGo(key);
  const { outcome } = await told(post, 'over', key);
  heard.same(outcome, 'submitted', `how the work on ${key} ended`);
  const { git } = await executionOf(team, key);
  const left = (await yard.atRemote(git?.branch ?? '', 'heard.txt')) ?? '';
  heard.that(left.includes(words), () => `the agent on ${key} heard: ${left}`);
  heard.detail = 'what a person said stands on the branch';
  return `${post.who.name}'s agent hears ${team.ana.name}, and hands in ${key}`;
}

async function killOne({ team, yard, stories, killed }: Day): Promise<string> {
  const post = at(yard.posts, 1);
  const key = stories.get(post) ?? '';
  const pid = (await yard.agentOf(key)) ?? 0;
  kill(post.working.pid);
  await post.working.ended;
  await until('the end of the agent with its runner', 20, () =>
    Promise.resolve(lives(pid) ? undefined : true),
  );
  yard.start(post);
  await told(post, 'adopted', key);
  await yard.letGo(key);
  const { outcome } = await told(post, 'over', key);
  killed.same(outcome, 'submitted', `how the work on ${key} ended`);
  const { attempt, lease, state } = await executionOf(team, key);
  killed.same([attempt, lease, state], [1, null, 'submitted'], 'owners, lease and state');
  killed.detail = 'it had one owner, and its agent did not outlive it';
  return `${post.who.name}'s runner is killed, goes on, and hands in ${key}`;
}

async function stopOne(day: Day): Promise<string> {
  const { team, yard, stories, stopped } = day;
  const post = at(yard.posts, 2);
  const key = stories.get(post) ?? '';
  const pid = (await yard.agentOf(key)) ?? 0;
  const { id: executionId } = await executionOf(team, key);
  const asked = performance.now();
  await team.ana.api.deliveryExecutions.update({ executionId, requestStop: true, reason: 'Not now' });
  const { outcome } = await told(post, 'over', key);
  const millis = performance.now() - asked;
  stopped.same(outcome, 'canceled', `how the work on ${key} ended`);
  stopped.that(millis < stopMillis, () => `it took ${Math.round(millis)} ms`);
  stopped.that(!lives(pid), () => 'its agent lives');
  const next = await begun(day, post, key);
  stories.set(post, next);
  await yard.letGo(next);
  await told(post, 'over', next);
  stopped.detail = `in ${(millis / 1000).toFixed(1)} s, and its runner went on to another`;
  return `the agent on ${key} stops; ${post.who.name}'s runner hands in ${next}`;
}

/** Three runners, and Ben who works by hand. */
export async function spendRunnerDay(instance: Instance, orgSlug: string): Promise<readonly Kept[]> {
  const outing = new Outing();
  const journal = new Journal(instance.baseUrl, orgSlug);
  const team = await foundTeam(instance, journal, orgSlug);
  const { ana, ben, chloe, dmitri, esra } = team;
  await ana.api.projects.create({ key: project, name: 'Fares and parcels' });
  const keys: string[] = [];
  for (const title of titles) {
    const { story } = await ana.api.stories.create({ projectId: project, title, status: 'ready' });
    keys.push(story.key);
  }
  const [his, hers] = [at(keys, 0), at(keys, titles.length - 1)];
  // The others pass it over, though they have nothing else to do by then.
  await ana.api.assignments.set({ targetType: 'story', targetId: hers, memberId: esra.memberId });
  const { execution, leaseToken } = await ben.api.deliveryExecutions.acquire({
    ...{ targetType: 'story', targetId: his, runId: 'by hand', start: true },
  });
  const yard = await openYard(instance, project, [chloe, dmitri, esra]);
  const day: Day = {
    ...{ team, yard, stories: new Map() },
    owners: new Check('three runners and a person have a story each, and no two have the same'),
    heard: new Check('an agent hears what a person says while it works'),
    killed: new Check('a runner that was killed goes on where it stood'),
    stopped: new Check('an agent that is asked to stop stops, with all that it began'),
    end: new Check('all that was handed in is at the remote, and nothing is left behind'),
  };
  try {
    await outing.step('All take a story', () => takeAll(day, his), journal);
    await outing.step('An agent is told something', () => say(day), journal);
    await outing.step('A runner is killed', () => killOne(day), journal);
    await outing.step('An agent is asked to stop', () => stopOne(day), journal);
    await outing.step(
      'The person hands in',
      async () => {
        const pullRequest = { number: 7, url: 'https://forge.example/fares/pull/7' };
        await ben.api.deliveryExecutions.complete({
          ...{ executionId: execution.id, leaseToken, outcome: 'submitted', pullRequest },
        });
        return his;
      },
      journal,
    );
    await outing.step('The day is over', () => endDay(day, keys), journal);
  } finally {
    await yard.close();
  }
  const { owners, heard, killed, stopped, end } = day;
  return [outing.broken, owners, heard, killed, stopped, end, ...checkAnswers(journal.calls)];
}

async function endDay({ team, yard, end }: Day, keys: readonly string[]): Promise<string> {
  for (const { working } of yard.posts) kill(working.pid, 'SIGTERM');
  const codes = await Promise.all(yard.posts.map(({ working }) => working.ended));
  const branches = await yard.branches();
  const states = new Map<string, string[]>();
  for (const key of keys) {
    const { state, attempt, git } = await executionOf(team, key);
    states.set(state, [...(states.get(state) ?? []), key]);
    end.same(attempt, 1, `the owners of ${key}`);
    if (git?.branch == null || state !== 'submitted') continue;
    end.same(await yard.atRemote(git.branch, 'work.txt'), key, `what is on ${git.branch}`);
    end.that(branches.includes(git.branch), () => `${git.branch} is not at the remote`);
  }
  end.same(
    [states.get('submitted')?.length, states.get('completed')?.length],
    [4, 1],
    'handed in, and stopped',
  );
  end.same(branches.length, 3, 'how many branches there are');
  end.same(await yard.journals(), [], 'what the journals of the machines have');
  for (const key of keys) {
    const pid = await yard.agentOf(key);
    end.that(pid === undefined || !lives(pid), () => `the agent on ${key} lives`);
  }
  const { items } = await team.gwen.api.stories.list({ projectId: project, status: ['in_review'] });
  end.same(items.length, 4, 'how many stories are in review');
  end.detail = `${branches.length} branches, ${items.length} stories in review`;
  return `runners ended with ${codes.join(', ')}`;
}

import { type Story } from '@muster/registry';
import { Check } from '../../check.ts';
import {
  comesTo,
  type Eight,
  type EightStep,
  enter,
  idOf,
  operatorToken,
  person,
  type Person,
  refusalOf,
  tell,
} from './eight.ts';

const requiredApprovals = 2;
const spec = '# Quiet hours\n\nNobody is called after ten.\n';

/** A person and an agent work on a story side by side; it is done once two approve of it as it is. */
export const reviews: EightStep = {
  name: 'A story passes its review',
  run: async (eight) => {
    const { policy } = person(eight, 'Ivo').api;
    await policy.update({ requiredApprovals });
    const { story } = await person(eight, 'Jana').api.stories.create({
      ...{ projectId: idOf(eight, 'project'), title: 'Quiet hours', spec },
    });
    eight.ids.set('story', story.id);
    const together = await workTogether(eight, story);
    const reviewed = await passReview(eight, story);
    // As the next ones should find it; null brings back the default.
    const { policy: after } = await policy.update({ requiredApprovals: null });
    reviewed.same(after.requiredApprovals, 0, 'the approvals that are required afterwards');
    eight.checks.push(together, reviewed);
    return `${story.key} by a person and an agent: two approvals went stale, two fresh ones let it through`;
  },
};

async function workTogether(eight: Eight, { id: storyId }: Story): Promise<Check> {
  const found = new Check('a person and an agent are assigned to one story side by side');
  const { api } = person(eight, 'Jana');
  const [kofi, nia] = [person(eight, 'Kofi'), person(eight, 'Nia')];
  const pilot = await enter(eight, await operatorToken(eight, 'Lea', 'Pilot'), 'Pilot');
  const target = { targetType: 'story', targetId: storyId } as const;
  const outside = api.assignments.set({ ...target, memberId: nia.memberId });
  found.same(await comesTo(outside), '422 no_role_in_project', 'assigning somebody from outside');
  await api.assignments.set({ ...target, memberId: kofi.memberId });
  tell(eight, 'assigned', 'Kofi');
  const { assignment } = await api.assignments.set({ ...target, agentId: pilot.agentId });
  tell(eight, 'assigned', 'Lea');
  found.same(
    [assignment.member?.id, assignment.agent?.id],
    [kofi.memberId, pilot.agentId],
    'the two who are assigned',
  );
  const { items } = await kofi.api.assignments.listForOrg({ memberId: kofi.memberId });
  found.same(
    items.map(({ targetId }) => targetId),
    [storyId],
    'what Kofi finds assigned to himself',
  );
  // Each takes a step: it is theirs alike.
  const { story: begun } = await pilot.api.stories.updateStatus({ storyId, status: 'in_progress' });
  const { story: ready } = await kofi.api.stories.updateStatus({ storyId, status: 'in_review' });
  found.same([begun.status, ready.status], ['in_progress', 'in_review'], 'the steps of the two');
  found.detail = 'Kofi and Pilot, an agent of Lea’s';
  return found;
}

async function passReview(eight: Eight, { id: storyId }: Story): Promise<Check> {
  const found = new Check('a story is done only with two approvals of the spec as it is now');
  const { api } = person(eight, 'Jana');
  const reviewers = ['Milo', 'Ivo', 'Lea'] as const;
  for (const name of reviewers) {
    await api.reviewers.add({ storyId, memberId: person(eight, name).memberId });
    tell(eight, 'review_requested', name);
  }
  const judge = async (name: Person, verdict: 'approved' | 'changes_requested', note?: string) => {
    const told = note === undefined ? {} : { note };
    await person(eight, name).api.reviewers.setVerdict({ storyId, verdict, ...told });
    // Those who work on it, and the one who asked.
    tell(eight, 'review_verdict', 'Kofi', 'Lea', 'Jana');
  };
  const missing = async (what: string, ...unmet: readonly object[]): Promise<void> => {
    const refusal = await refusalOf(api.stories.updateStatus({ storyId, status: 'done' }));
    found.same([refusal?.status, refusal?.reason], [422, 'policy'], `done ${what}`);
    found.same(refusal?.body.details?.['unmet'], unmet, `what is missing for done ${what}`);
  };
  const approvals = (fresh: number) => ({ gate: 'requiredApprovals', required: requiredApprovals, fresh });
  const verdicts = async (what: string, ...wanted: readonly unknown[]): Promise<void> => {
    const { items } = await api.reviewers.list({ storyId });
    const seen = items.map(({ reviewer, verdict, stale }) => [reviewer.name, verdict, stale]);
    found.same(seen, wanted, `the verdicts ${what}`);
  };

  await missing('without any verdict', approvals(0));
  const byAuthor = person(eight, 'Lea').api.reviewers.setVerdict({ storyId, verdict: 'approved' });
  found.same(await comesTo(byAuthor), '422 policy', 'an approval by the one whose agent works on it');
  const uninvited = person(eight, 'Kofi').api.reviewers.setVerdict({ storyId, verdict: 'approved' });
  found.same(await comesTo(uninvited), '403 not_a_reviewer', 'a verdict of somebody who was not asked');
  await judge('Milo', 'changes_requested', 'Whose ten?');
  await judge('Ivo', 'approved');
  await missing('while changes are wanted', approvals(1), { gate: 'changesRequested', fresh: 1 });

  await edit(eight, storyId, 1, 'By the clock of the one who is called.');
  const lea = ['Lea', 'pending', false];
  await verdicts('after an edit', ['Milo', 'changes_requested', true], ['Ivo', 'approved', true], lea);
  await judge('Milo', 'approved');
  await judge('Ivo', 'approved');
  await edit(eight, storyId, 2, 'Weekends are quiet until noon.');
  await verdicts('after another edit', ['Milo', 'approved', true], ['Ivo', 'approved', true], lea);
  await missing('with two stale approvals', approvals(0));
  await judge('Ivo', 'approved');
  await missing('with one fresh approval', approvals(1));
  await judge('Milo', 'approved');
  await verdicts('at the end', ['Milo', 'approved', false], ['Ivo', 'approved', false], lea);
  const { story: done } = await api.stories.updateStatus({ storyId, status: 'done' });
  found.same(done.status, 'done', 'the status with two fresh approvals');
  found.detail = '6 verdicts, 2 edits of the spec, refused 4 times';
  return found;
}

async function edit(eight: Eight, storyId: string, baseVersion: number, line: string): Promise<void> {
  const { api } = person(eight, 'Kofi');
  const { spec: now } = await api.storySpec.get({ storyId });
  await api.storySpec.update({ storyId, content: `${now.content}\n${line}\n`, baseVersion });
}

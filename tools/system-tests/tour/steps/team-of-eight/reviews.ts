import { Check } from '../../check.ts';
import {
  answerTo,
  type Eight,
  type EightStep,
  expectNotice,
  idOf,
  joinAsOperator,
  type TourPerson,
  person,
} from './eight.ts';

const requiredApprovals = 2;
const spec = '# Quiet hours\n\nNobody is called after ten.\n';

/**
 * A person and an agent work on a story. The story can move to done after two people approve its current
 * spec.
 */
export const reviews: EightStep = {
  name: 'A story passes its review',
  run: async (eight) => {
    const { policy } = person(eight, 'Ivo').api;
    await policy.update({ requiredApprovals });
    const { story } = await person(eight, 'Jana').api.stories.create({
      ...{ projectId: idOf(eight, 'project'), title: 'Quiet hours', spec },
    });
    await workTogether(eight, story.id);
    eight.checks.push(await passReview(eight, story.id));
    return `${story.key} by a person and an agent: two approvals went stale, two fresh ones let it through`;
  },
};

async function workTogether(eight: Eight, storyId: string): Promise<void> {
  const [jana, kofi] = [person(eight, 'Jana'), person(eight, 'Kofi')];
  const pilot = await joinAsOperator(eight, 'Lea', 'Pilot');
  const target = { targetType: 'story', targetId: storyId } as const;
  await jana.api.assignments.set({ ...target, memberId: kofi.memberId });
  await jana.api.assignments.set({ ...target, agentId: pilot.agentId });
  expectNotice(eight, 'assigned', 'Kofi', 'Lea');
  await pilot.api.stories.updateStatus({ storyId, status: 'in_progress' });
  await kofi.api.stories.updateStatus({ storyId, status: 'in_review' });
}

async function passReview(eight: Eight, storyId: string): Promise<Check> {
  const found = new Check('a story is done only with two approvals of its current spec');
  const { api } = person(eight, 'Jana');
  for (const name of ['Milo', 'Ivo'] as const) {
    await api.reviewers.add({ storyId, memberId: person(eight, name).memberId });
    expectNotice(eight, 'review_requested', name);
  }
  const judge = async (name: TourPerson, verdict: 'approved' | 'changes_requested', note?: string) => {
    const comment = note === undefined ? {} : { note };
    await person(eight, name).api.reviewers.setVerdict({ storyId, verdict, ...comment });
    // The assignees, and the person who requested the review, are notified.
    expectNotice(eight, 'review_verdict', 'Kofi', 'Lea', 'Jana');
  };
  const finish = () => answerTo(api.stories.updateStatus({ storyId, status: 'done' }));

  await judge('Milo', 'changes_requested', 'Whose ten?');
  await judge('Ivo', 'approved');
  found.same(await finish(), '422 policy', 'done with requested changes');
  await judge('Milo', 'approved');
  const content = `${spec}\nBy the clock of the person who is called.\n`;
  await person(eight, 'Kofi').api.storySpec.update({ storyId, content, baseVersion: 1 });
  const { items } = await api.reviewers.list({ storyId });
  found.same(
    items.map(({ stale }) => stale),
    [true, true],
    'whether the verdicts are stale after an edit',
  );
  found.same(await finish(), '422 policy', 'done with two stale approvals');
  await judge('Ivo', 'approved');
  found.same(await finish(), '422 policy', 'done with one fresh approval');
  await judge('Milo', 'approved');
  found.same(await finish(), '200', 'done with two fresh approvals');
  found.detail = '5 verdicts, refused 3 times';
  return found;
}

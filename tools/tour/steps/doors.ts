import { type MusterError } from '@muster/client';
import { attempt, type Outcome } from '../attempts.ts';
import { Check } from '../check.ts';
import { type Step } from '../tour-state.ts';

/** Some try what they may not. */
export const doors: Step = {
  name: 'Some try what they may not',
  run: async ({ team, projectId, storyIds, checks }) => {
    const { gwen, chloe, neighbour } = team;
    const found = new Check('nobody gets further than their role and their organization');
    const [storyId = ''] = storyIds.values();
    const refused = (outcome: Outcome<unknown>): MusterError | undefined =>
      outcome.ok ? undefined : outcome.refusal;
    const expect = async (
      what: string,
      call: Promise<unknown>,
      status: number,
    ): Promise<MusterError | undefined> => {
      const refusal = refused(await attempt(call));
      found.same(refusal?.status ?? 200, status, what);
      return refusal;
    };
    await expect('a viewer creating a story', gwen.api.stories.create({ projectId, title: 'May I?' }), 403);
    await expect('a viewer moving a story', gwen.api.stories.updateStatus({ storyId, status: 'done' }), 403);
    await expect(
      'a viewer deleting the project',
      gwen.api.projects.delete({ projectId, confirmKey: 'TOUR' }),
      403,
    );
    await expect(
      'a member deleting the project',
      chloe.api.projects.delete({ projectId, confirmKey: 'TOUR' }),
      403,
    );
    await expect('a member reading the audit', chloe.api.audit.list({}), 403);
    const nowhere = '01936d5c-0000-7000-8000-00000000ffff';
    const foreign = await expect(
      'the neighbour reading a story',
      neighbour.api.stories.get({ storyId }),
      404,
    );
    const none = await expect(
      'anybody reading no story',
      neighbour.api.stories.get({ storyId: nowhere }),
      404,
    );
    const body = (refusal: MusterError | undefined): unknown => refusal && { ...refusal.body, requestId: '' };
    found.same(
      body(foreign),
      body(none),
      'the answer about a foreign story, compared with one that does not exist',
    );
    await expect(
      'the neighbour writing a spec',
      neighbour.api.storySpec.update({ storyId, content: 'Hello' }),
      404,
    );
    await expect('the neighbour commenting', neighbour.api.comments.create({ storyId, body: 'Hello' }), 404);
    found.detail = '9 attempts by a viewer, a member and the owner of another organization';
    checks.push(found);
    return '5 attempts without the right, 4 at another organization';
  },
};

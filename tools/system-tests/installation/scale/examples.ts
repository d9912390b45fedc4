/** Tests every operation's example in an organization on the second server. */
import { httpTransport } from '@muster/client';
import { operations } from '@muster/registry';
import { checkEachCase } from '@muster/testing';
import { exampleCallerOf, type ExampleOrg, createExampleOrg } from '@muster/examples';
import { openTestDatabase, openWorld, type OpenWorld } from '@muster/testing/world';
import { type ScaleServers, type Jest, minutes } from './ground.ts';

/** Examples for operators are called for the whole installation, with a token of the primary server. */
const cases = [...operations].filter(([, { access }]) => access.kind !== 'platform');

export function itAnswersExamples(
  { afterAll, beforeAll, describe, expect, it }: Jest,
  { home, east, eastUrl, rowsAt, apiUrl }: ScaleServers,
): void {
  describe('an organization on the second server', () => {
    let world: OpenWorld;
    beforeAll(() => {
      world = openWorld(openTestDatabase(eastUrl(), 'muster-scale'), {});
    });
    afterAll(() => world.close());

    /** Releases the slug that the examples name, which the previous organization claimed. */
    const exampleOrgAtEast = async (): Promise<ExampleOrg> => {
      const org = await createExampleOrg(world);
      await rowsAt(home(), 'delete from app.claimed_slugs where slug = $1', org.slug);
      await rowsAt(
        home(),
        'insert into app.org_places (org_id, node) values ($1, $2)',
        org.orgId,
        east().name,
      );
      await rowsAt(
        home(),
        'insert into app.claimed_slugs (slug, org_id) values ($1, $2)',
        org.slug,
        org.orgId,
      );
      return org;
    };

    it(
      'is answered the example of every operation, and home has nothing of it',
      async () => {
        await checkEachCase(cases, async (operation) => {
          const org = await exampleOrgAtEast();
          const { token } = exampleCallerOf(operation, org).me;
          const answer = await httpTransport({ baseUrl: apiUrl(0), token })(operation, operation.example, {});
          expect(operation.result.parse(answer)).toEqual(answer);
          expect(await rowsAt(home(), 'select from audit where org_id = $1', org.orgId)).toEqual([]);
          const entries = await rowsAt<{ outcome: string }>(
            east(),
            'select outcome from audit where org_id = $1 and operation = $2',
            org.orgId,
            operation.name,
          );
          expect(entries).toEqual(operation.effect === 'write' ? [{ outcome: 'allowed' }] : []);
        });
      },
      10 * minutes,
    );
  });
}

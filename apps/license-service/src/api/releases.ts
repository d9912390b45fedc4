/** Operations that publish, list and yank releases for operators' programs, such as a build pipeline. */
import { z } from 'zod';
import { listReleases, maxArtifacts, publishRelease, yankRelease } from '../operators/releases.ts';
import { NewArtifact, NotesUrl, ReleaseArtifact, releaseChannels } from '../releases/records.ts';
import { type AnyOperation, defineOperation } from './operation.ts';
import { NullableTime, PageLimit, StatusReason } from './records.ts';

const Version = z
  .string()
  .min(1)
  .max(100)
  .describe('A version by Semantic Versioning, such as 1.4.0 or 2.0.0-beta.1.');
const ReleaseRecord = z.object({
  id: z.uuid(),
  product: z.string(),
  version: z.string(),
  channel: z.enum(releaseChannels),
  notesUrl: z.string().nullable(),
  artifacts: z.array(ReleaseArtifact),
  publishedAt: z.iso.datetime(),
  yankedAt: NullableTime.describe('When it was withdrawn; null while it is offered.'),
  yankReason: z.string().nullable(),
});

export const releaseOperations: readonly AnyOperation[] = [
  defineOperation({
    path: 'releases/publish',
    scope: 'publish',
    summary: 'Publish a release',
    description:
      'Upload its files to `<version>/<name>` on your server first. A release never changes: the same call again ' +
      'returns it with `isRepeated`, and a call with other fields is refused.',
    params: z.strictObject({
      version: Version,
      channel: z
        .enum(releaseChannels)
        .default('stable')
        .describe('Programs on a channel also get releases of more stable ones.'),
      notesUrl: NotesUrl.optional(),
      artifacts: z.array(NewArtifact).min(1).max(maxArtifacts),
    }),
    result: z.object({ release: ReleaseRecord, isRepeated: z.boolean() }),
    run: ({ db, token: { product } }, { notesUrl = null, ...release }) =>
      publishRelease(db, { ...release, product, notesUrl }),
  }),
  defineOperation({
    path: 'releases/list',
    scope: 'read',
    summary: 'List releases, the last published first',
    params: z.strictObject({
      after: Version.optional().describe('The last version of the previous page.'),
      limit: PageLimit,
    }),
    result: z.object({ items: z.array(ReleaseRecord), nextAfter: z.string().nullable() }),
    run: async ({ db, token: { product } }, page) => {
      const items = await listReleases(db, { ...page, product });
      return { items, nextAfter: items.length === page.limit ? (items.at(-1)?.version ?? null) : null };
    },
  }),
  defineOperation({
    path: 'releases/yank',
    scope: 'publish',
    summary: 'Withdraw a release for good',
    description:
      'Machines and customers get the latest other release from then on. Addresses that were signed before stay valid ' +
      'for up to five minutes. Repeating the call keeps the first time and reason.',
    params: z.strictObject({ version: Version, reason: StatusReason.optional() }),
    result: z.object({ release: ReleaseRecord }),
    run: async ({ db, token: { product } }, { version, reason = null }) => ({
      release: await yankRelease(db, { product, version, reason }),
    }),
  }),
];

import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { bulkBodyLimit, operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { Deleted, Id, jsonObject, name, SearchText } from '../kernel/values.ts';
import {
  CatalogAgent,
  CatalogContent,
  CatalogDescription,
  CatalogName,
  CatalogSlug,
  CatalogVersion,
  CatalogVersionRef,
  ContentEncoding,
  ContentType,
  mostManifestBytes,
  VersionRange,
} from '../records/catalog.ts';
import { PromptTags } from '../records/prompt.ts';

/** An agent, named by slug or by id, and the requested version. */
const VersionWanted = z
  .strictObject({
    slug: CatalogSlug.optional(),
    agentId: Id.optional(),
    version: VersionRange.optional(),
  })
  .refine(({ slug, agentId }) => (slug === undefined) !== (agentId === undefined), {
    error: 'give exactly one of slug and agentId',
    path: ['slug'],
  });

export const catalog = {
  publish: operation({
    name: 'agents.catalog.publish',
    effect: 'write',
    idempotent: true,
    summary: 'Publish a version of an agent',
    keywords: 'upload register agent definition package',
    description: `A version says the same for ever: published again with the same content it is answered as it is, with other content it is refused, also after it was deleted. The publisher of an agent's first version publishes the next ones, or an admin. An agent has at most 500 versions.`,
    access: org('member', 'publisher', 'admin'),
    params: z.strictObject({
      slug: CatalogSlug,
      version: CatalogVersion,
      name: CatalogName,
      description: CatalogDescription,
      manifest: jsonObject(mostManifestBytes),
      content: CatalogContent,
      contentType: ContentType.optional(),
      encoding: ContentEncoding.default('utf8'),
      tags: PromptTags.default([]),
    }),
    result: z.object({ agent: CatalogAgent }),
    refusals: ['already_exists', 'limit_exceeded'],
    emits: ['agent.published'],
    bodyLimit: bulkBodyLimit,
    example: {
      slug: 'code-reviewer',
      version: '1.1.0',
      name: 'Code reviewer',
      description: 'Reads a change and says what is missing.',
      manifest: { entry: 'AGENT.md', tools: ['read'] },
      content: '# Read the change first',
      contentType: 'text/markdown',
      tags: ['review'],
    },
  }),
  get: operation({
    name: 'agents.catalog.get',
    effect: 'read',
    summary: 'Get an agent of the catalog',
    keywords: 'show agent definition versions manifest details',
    description: `With the version that is asked for, or the newest of a range, and all versions that there are: newest first, pre-releases after releases. A range takes pre-releases only where it names one of the same version.`,
    access: org('viewer'),
    params: VersionWanted,
    result: z.object({ agent: CatalogAgent, versions: z.array(CatalogVersionRef) }),
    example: { slug: 'code-reviewer', version: '^1.0.0' },
  }),
  list: operation({
    name: 'agents.catalog.list',
    effect: 'read',
    summary: 'List the agents of the catalog',
    keywords: 'available agents find browse install',
    description: `By slug, each as its newest version says. query is looked for in slug, name and description. Manifests of more than 4 KiB are left out (null) unless includeManifest is true; agents.catalog.get has them.`,
    access: org('viewer'),
    params: z.strictObject({
      query: SearchText.optional(),
      tag: name(50).optional(),
      includeManifest: z.boolean().optional().meta({
        description: 'true: all manifests; false: none; absent: those up to 4 KiB',
      }),
      ...page,
    }),
    result: pageOf(CatalogAgent),
    example: { query: 'review', tag: 'review' },
  }),
  download: operation({
    name: 'agents.catalog.download',
    effect: 'read',
    summary: 'Download an agent of the catalog',
    keywords: 'install fetch agent package',
    description: `The content as it was published, in the encoding in which it was; sha256 and size are of the decoded bytes.`,
    access: org('viewer'),
    params: VersionWanted,
    result: z.object({
      slug: z.string(),
      version: z.string(),
      sha256: z.string(),
      size: z.int(),
      contentType: z.string(),
      encoding: ContentEncoding,
      content: z.string(),
    }),
    example: { slug: 'code-reviewer' },
  }),
  delete: operation({
    name: 'agents.catalog.delete',
    effect: 'write',
    idempotent: true,
    destructive: true,
    summary: 'Delete a version of an agent, or the agent',
    keywords: 'remove withdraw unpublish agent definition',
    description: `By the publisher of the agent, or an admin. With its last version the agent is gone, and its slug free; no version comes back with other content.`,
    access: org('member', 'publisher', 'admin'),
    auditsRefusal: true,
    params: z.strictObject({
      slug: CatalogSlug,
      version: CatalogVersion.optional().meta({ description: 'Absent: the agent with all its versions' }),
    }),
    result: Deleted,
    emits: ['agent.deleted'],
    example: { slug: 'code-reviewer', version: '1.0.0' },
  }),
};

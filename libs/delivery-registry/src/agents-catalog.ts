import { z } from 'zod';
import {
  org,
  bulkBodyLimitBytes,
  operation,
  pageParams,
  pageSchemaOf,
  Deleted,
  Id,
  jsonObject,
  nameText,
  SearchText,
  CatalogAgent,
  CatalogContent,
  CatalogDescription,
  CatalogName,
  CatalogSlug,
  CatalogVersion,
  CatalogVersionRef,
  ContentEncoding,
  ContentType,
  maxManifestBytes,
  VersionRange,
  PromptTags,
} from '@muster/contract';

/** An agent, named by slug or by id, and the requested version. */
const CatalogVersionSelector = z
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
    description:
      'Versions never change: publishing the same content again returns the existing version, and different content is refused, even after the version was deleted. Only the publisher of the first version or an admin may publish the next ones. An agent has at most 500 versions.',
    access: org('member', 'publisher', 'admin'),
    params: z.strictObject({
      slug: CatalogSlug,
      version: CatalogVersion,
      name: CatalogName,
      description: CatalogDescription,
      manifest: jsonObject(maxManifestBytes),
      content: CatalogContent,
      contentType: ContentType.optional(),
      encoding: ContentEncoding.default('utf8'),
      tags: PromptTags.default([]),
    }),
    result: z.object({ agent: CatalogAgent }),
    refusals: ['already_exists', 'limit_exceeded'],
    emits: ['agent.published'],
    bodyLimit: bulkBodyLimitBytes,
    example: {
      slug: 'code-reviewer',
      version: '1.1.0',
      name: 'Code reviewer',
      description: 'Reads a change and names what is missing.',
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
    description:
      'Returns the requested version, or the newest one in a range, and a list of all versions: newest first, pre-releases after releases. A range matches a pre-release only if it names a pre-release of the same version.',
    access: org('viewer'),
    params: CatalogVersionSelector,
    result: z.object({ agent: CatalogAgent, versions: z.array(CatalogVersionRef) }),
    example: { slug: 'code-reviewer', version: '^1.0.0' },
  }),
  list: operation({
    name: 'agents.catalog.list',
    effect: 'read',
    summary: 'List the agents of the catalog',
    keywords: 'available agents find browse install',
    description:
      'Sorted by slug, each with its newest version. query searches slug, name and description. Manifests larger than 4 KiB are null unless includeManifest is true; agents.catalog.get returns them.',
    access: org('viewer'),
    params: z.strictObject({
      query: SearchText.optional(),
      tag: nameText(50).optional(),
      includeManifest: z.boolean().optional().meta({
        description: 'true returns all manifests, false none; by default those up to 4 KiB',
      }),
      ...pageParams,
    }),
    result: pageSchemaOf(CatalogAgent),
    example: { query: 'review', tag: 'review' },
  }),
  download: operation({
    name: 'agents.catalog.download',
    effect: 'read',
    summary: 'Download an agent of the catalog',
    keywords: 'install fetch agent package',
    description:
      'The content as published, in its original encoding; sha256 and size refer to the decoded bytes.',
    access: org('viewer'),
    params: CatalogVersionSelector,
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
    description:
      "Only the agent's publisher or an admin may do this. Deleting the last version removes the agent and frees its slug. A deleted version cannot be published again with other content.",
    access: org('member', 'publisher', 'admin'),
    auditsRefusal: true,
    params: z.strictObject({
      slug: CatalogSlug,
      version: CatalogVersion.optional().meta({ description: 'By default, all versions of the agent' }),
    }),
    result: Deleted,
    emits: ['agent.deleted'],
    example: { slug: 'code-reviewer', version: '1.0.0' },
  }),
};

import { z } from 'zod';
import {
  org,
  operation,
  pageParams,
  pageSchemaOf,
  ProjectRef,
  SearchText,
  SearchHitKind,
  SearchHit,
} from '@muster/contract';

export const search = {
  find: operation({
    name: 'search.find',
    effect: 'read',
    summary: 'Search stories, epics, specs, comments and members, without archived projects',
    keywords:
      'search look up text full everything everywhere which ticket mentions about typo similar existing duplicate',
    description:
      'Only results that you may see, best first; archived projects only if projectId names one. A story whose key is the query comes first (WEB-42, then 42), then exact titles and titles that begin with the query, then titles with all words, then texts with all words; the last word may be incomplete. Words without a result also match similar spellings, such as receive for recieve. Only the first 20,000 characters of a description, spec or comment are searched. Members are found only without projectId. The result is not paged.',
    access: org('viewer'),
    params: z.strictObject({
      query: SearchText,
      kinds: z.array(SearchHitKind).min(1).max(SearchHitKind.options.length).optional(),
      projectId: ProjectRef.optional(),
      limit: pageParams.limit,
    }),
    result: pageSchemaOf(SearchHit),
    example: { query: 'sign in' },
  }),
};

import { z } from 'zod';
import { org } from '../kernel/access.ts';
import { operation } from '../kernel/operation.ts';
import { page, pageOf } from '../kernel/pagination.ts';
import { ProjectRef, SearchText } from '../kernel/values.ts';
import { FoundKind, FoundRecord } from '../records/found.ts';

export const search = {
  find: operation({
    name: 'search.find',
    effect: 'read',
    summary: 'Find stories, epics, specs, comments and members; archived projects aside',
    keywords:
      'search look up text full everything everywhere which ticket mentions about typo similar existing duplicate',
    description: `Only what you may see now, best first; of an archived project where projectId names it. The story whose key the query is comes first (WEB-42, then 42 alone), then titles that are it or begin with it, titles with all its words, texts with all of them; the last word may be just begun. What no record has is looked for by words one slip of the fingers away, such as receive for recieve. Of a description, spec or comment the first 20,000 characters are searched. Members are found where no projectId is given. The answer is not paged.`,
    access: org('viewer'),
    params: z.strictObject({
      query: SearchText,
      kinds: z.array(FoundKind).min(1).max(FoundKind.options.length).optional(),
      projectId: ProjectRef.optional(),
      limit: page.limit,
    }),
    result: pageOf(FoundRecord),
    example: { query: 'sign in' },
  }),
};

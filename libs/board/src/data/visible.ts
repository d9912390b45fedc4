/** What a list over the whole organization may show. */
import { type Values } from '@muster/database';
import { type Caller } from '@muster/runtime';

/** SQL for the ids of the projects that the caller may see, for `in`. */
export const visibleProjects = (values: Values, { memberId, tokenId }: Caller): string =>
  `(select v.project_id from app.visible_projects(${values.org}, ${values.uuid(memberId)}, ${values.uuid(tokenId)}) v)`;

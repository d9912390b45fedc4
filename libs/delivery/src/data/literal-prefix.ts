/** Compares resources in SQL by the text before their first wildcard. */
import { type Part, sql } from '@muster/driver';

/** Returns SQL for the part of a resource before its first wildcard or escape. */
export const literalPrefixSql = (resource: Part): Part =>
  sql.part`substring(${resource} from '^[^*?{\\[\\\\]*')`;

/**
 * Returns SQL for the array of those resources that can share a path with one whose literal prefix is in the
 * list. `offset 0` makes Postgres compute the prefix once for each resource, not for each pair.
 */
export const resourcesMeetingPrefixSql = (resources: Part, pathPrefixes: readonly string[]): Part =>
  sql.part`array(select t.text from unnest(${resources}) t(text)
    cross join lateral (select ${literalPrefixSql(sql.part`t.text`)} as head offset 0) r
    where exists (select from unnest(${pathPrefixes}::text[]) h(head)
      where starts_with(t.text, h.head) or starts_with(h.head, r.head)))`;

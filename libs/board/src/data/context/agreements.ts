/** The sections of prompts and contracts. */
import { of, type Part, sql } from '@muster/driver';
import { contractColumns, type ContractRow, toContract } from '../contracts.ts';
import { effectivePrompts, promptColumns, type PromptRow, toPrompt } from '../prompts.ts';
import { firstOf, type Section } from './scope.ts';

const mostPrompts = 50;
const mostContracts = 50;

/**
 * Returns SQL for a text. It is null if the texts that come before it in the given order already exceed
 * `maxBytes`.
 */
const ifRoom = (text: Part, order: Part, maxBytes: number): Part =>
  sql.part`case when coalesce(sum(octet_length(${text})) over (order by ${order} rows between unbounded preceding and 1 preceding), 0)
     <= ${maxBytes} then ${text} end`;

/** Reads the project's effective prompts. Its own prompts override those of the organization. */
export const prompts: Section<'prompts'> = async ({ db, maxBytes }) => {
  const effective = effectivePrompts(sql.part`(select app.project_id())`, mostPrompts + 1);
  const rows = await db.all(
    sql<PromptRow>`select ${promptColumns}, ${ifRoom(sql.part`p.body`, sql.part`p.slug`, maxBytes)} as body
       from (${effective}) p order by p.slug`,
  );
  const { value, more } = firstOf(rows, mostPrompts);
  return { value: value.map(toPrompt), more: more || value.some((row) => row.body === null) };
};

/**
 * Reads the newest versions of contracts: first those published for the story, then others of the project.
 */
export const contracts: Section<'contracts'> = async ({ db, storyId, maxBytes }) => {
  const limit = mostContracts + 1;
  const rows = await db.all(
    sql<ContractRow>`with linked as materialized (
         select l.contract_id as id, l.slug from contract_stories l
         where ${of('l')} and l.story_id = ${storyId} order by l.slug limit ${sql.literal(limit)}),
       chosen as (
         select l.id, l.slug, 0 as place from linked l
         union all
         (select c.id, c.slug, 1 from contracts c
          where ${of('c')} and c.project_id = (select app.project_id())
            and not exists (select from linked l where l.id = c.id)
          order by c.slug limit ${sql.literal(limit)})
         order by place, slug limit ${sql.literal(limit)})
       select ${contractColumns}, ${ifRoom(sql.part`v.content`, sql.part`h.place, h.slug`, maxBytes)} as content
       from chosen h
       join contracts c on ${of('c')} and c.id = h.id
       join contract_versions v on ${of('v')} and v.contract_id = c.id and v.version = c.version
       order by h.place, h.slug`,
  );
  const { value, more } = firstOf(rows, mostContracts);
  return { value: value.map(toContract), more: more || value.some((row) => row.content === null) };
};

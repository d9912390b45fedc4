/** The sections of prompts and contracts. */
import { orgFilter, type Part, sql } from '@muster/driver';
import { contractColumns, type ContractRow, toContract } from '../contracts.ts';
import { selectEffectivePrompts, promptColumns, type PromptRow, toPrompt } from '../prompts.ts';
import { toLimitedSection, type SectionReader } from './scope.ts';

const maxPrompts = 50;
const maxContracts = 50;

/**
 * Returns SQL for a text. It is null if the texts that come before it in the given order already exceed
 * `maxBytes`.
 */
const selectTextWithinBytes = (text: Part, order: Part, maxBytes: number): Part =>
  sql.part`case when coalesce(sum(octet_length(${text})) over (order by ${order} rows between unbounded preceding and 1 preceding), 0)
     <= ${maxBytes} then ${text} end`;

/** Reads the project's effective prompts. Its own prompts override those of the organization. */
export const readPrompts: SectionReader<'prompts'> = async ({ db, maxBytes }) => {
  const effective = selectEffectivePrompts(sql.part`(select app.project_id())`, maxPrompts + 1);
  const rows = await db.all(
    sql<PromptRow>`select ${promptColumns}, ${selectTextWithinBytes(sql.part`p.body`, sql.part`p.slug`, maxBytes)} as body
       from (${effective}) p order by p.slug`,
  );
  const { value, hasMore } = toLimitedSection(rows, maxPrompts);
  return { value: value.map(toPrompt), hasMore: hasMore || value.some((row) => row.body === null) };
};

/**
 * Reads the newest versions of contracts: first those published for the story, then others of the project.
 */
export const readContracts: SectionReader<'contracts'> = async ({ db, storyId, maxBytes }) => {
  const limit = maxContracts + 1;
  const rows = await db.all(
    sql<ContractRow>`with linked as materialized (
         select l.contract_id as id, l.slug from contract_stories l
         where ${orgFilter('l')} and l.story_id = ${storyId} order by l.slug limit ${sql.literal(limit)}),
       chosen as (
         select l.id, l.slug, 0 as place from linked l
         union all
         (select c.id, c.slug, 1 from contracts c
          where ${orgFilter('c')} and c.project_id = (select app.project_id())
            and not exists (select from linked l where l.id = c.id)
          order by c.slug limit ${sql.literal(limit)})
         order by place, slug limit ${sql.literal(limit)})
       select ${contractColumns}, ${selectTextWithinBytes(sql.part`v.content`, sql.part`h.place, h.slug`, maxBytes)} as content
       from chosen h
       join contracts c on ${orgFilter('c')} and c.id = h.id
       join contract_versions v on ${orgFilter('v')} and v.contract_id = c.id and v.version = c.version
       order by h.place, h.slug`,
  );
  const { value, hasMore } = toLimitedSection(rows, maxContracts);
  return { value: value.map(toContract), hasMore: hasMore || value.some((row) => row.content === null) };
};

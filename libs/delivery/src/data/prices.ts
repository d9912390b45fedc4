/** Prices of models: those of the organization, and the built-in ones. */
import { CursorText, type Db, currentOrgId, decodeCursor, orgFilter, pageOfRows, sql } from '@muster/driver';
import { type ParamsOf, type ResultOf, type UsagePrice } from '@muster/contract';
import { type DeliveryRegistry } from '@muster/delivery-registry';
import { z } from 'zod';

/** The maximum number of an organization's own prices. */
export const maxPrices = 1_000;

const amountColumns = sql.part`input_micros as "inputMicros", output_micros as "outputMicros", cached_micros as "cachedMicros"`;

/** Sets the price from a day on. Returns undefined if the organization has too many prices. */
export const setPrice = (
  db: Db,
  {
    model,
    currency,
    inputMicros,
    outputMicros,
    cachedMicros = inputMicros,
    validFrom,
  }: ParamsOf<DeliveryRegistry['usage']['prices']['set']>,
): Promise<UsagePrice | undefined> =>
  db.find(
    sql<UsagePrice>`insert into usage_prices (org_id, model, currency, valid_from, input_micros, output_micros, cached_micros)
      select ${currentOrgId}, ${model}, ${currency}, coalesce(${validFrom ?? null}::date, (now() at time zone 'UTC')::date),
        ${inputMicros}::bigint, ${outputMicros}::bigint, ${cachedMicros}::bigint
      where (select count(*) from usage_prices p where ${orgFilter('p')}) < ${sql.literal(maxPrices)}
      on conflict (org_id, model, currency, valid_from) do update set
        input_micros = excluded.input_micros, output_micros = excluded.output_micros, cached_micros = excluded.cached_micros
      returning model, currency, valid_from::text as "validFrom", ${amountColumns}, 'organization' as source`,
  );

const Cursor = z.tuple([CursorText, CursorText, CursorText, CursorText]);

/** Lists prices by model, the newest first. */
export async function listPrices(
  db: Db,
  { limit, cursor }: ParamsOf<DeliveryRegistry['usage']['prices']['list']>,
): Promise<ResultOf<DeliveryRegistry['usage']['prices']['list']>> {
  const after = decodeCursor(cursor, Cursor);
  const rows = await db.all(
    sql<UsagePrice>`select q.* from (
        select p.model, p.currency, p.valid_from::text as "validFrom", ${amountColumns}, 'organization' as source
        from usage_prices p where ${orgFilter('p')}
        union all
        select d.model, d.currency, d.valid_from::text, d.input_micros, d.output_micros, d.cached_micros, 'default'
        from app.default_usage_prices() d) q
      where ${
        after === undefined
          ? sql.part`true`
          : sql.part`q.model collate "C" > ${after[0]} or q.model = ${after[0]} and (q."validFrom" < ${after[1]}
              or q."validFrom" = ${after[1]} and (q.currency collate "C", q.source collate "C") > (${after[2]}, ${after[3]}))`
      }
      order by q.model collate "C", q."validFrom" desc, q.currency collate "C", q.source collate "C" limit ${limit + 1}`,
  );
  const keyOf = ({ model, validFrom, currency, source }: UsagePrice) => [model, validFrom, currency, source];
  return pageOfRows(rows, limit, keyOf, (price) => price);
}

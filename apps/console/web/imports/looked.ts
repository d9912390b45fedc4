/** What a file has in it, read as one says that it is to be read. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type DateOrder, type FileFormat, placesOf, surveyFile } from '@muster/import-files';
import { type BoardColumn, type Member } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { membersQuery } from '../data/people-queries.ts';
import { columnsQuery } from '../settings/queries.ts';
import { type Said } from './csv-columns.tsx';
import { addressesOf } from './people-table.tsx';
import { open } from './reading.ts';

/** A file, and what is said of it. */
export interface Wish {
  /** Undefined until a file is recognized or its format is chosen. */
  readonly format: FileFormat | undefined;
  /** Each choice of a file is another, also of the same name. */
  readonly chosen: { readonly number: number; readonly blob: File } | null;
  readonly site: string;
  readonly source: string;
  readonly dates: DateOrder | '';
  /** Columns of the board, by the statuses of the file. */
  readonly places: Said;
  /** Columns of the file, by fields. */
  readonly fields: Said;
  /** Addresses of members, by the names of the file. */
  readonly persons: Said;
}

export const firstWish: Wish = {
  ...{ format: undefined, chosen: null, site: '', source: '', dates: '' },
  ...{ places: {}, fields: {}, persons: {} },
};

async function look(
  { format, chosen, site, source, dates, places, fields, persons }: Wish,
  columns: readonly BoardColumn[] | undefined,
  members: readonly Member[],
) {
  if (chosen === null || format === undefined) throw new Error('no file is chosen');
  const file = await open(format, chosen.blob, {
    ...(format === 'csv' && { map: new Map(Object.entries(fields)) }),
    ...(source !== '' && { source }),
    ...(site !== '' && { site }),
  });
  const fitting = {
    placeOf: placesOf(columns, new Map(Object.entries(places))),
    ...(dates !== '' && { dates }),
    people: addressesOf(members, persons),
  };
  return { file, fitting, survey: await surveyFile(file, fitting) };
}

/** It is read anew whenever something else is said. */
export function useLooked(projectId: string, wish: Wish) {
  const client = useClient();
  const columns = useQuery(columnsQuery(client, projectId));
  const members = useQuery(membersQuery(client));
  const { chosen, ...said } = wish;
  const looked = useQuery({
    queryKey: ['file', chosen?.number, said, columns.data, members.data],
    queryFn: () => look(wish, columns.data, members.data ?? []),
    enabled: chosen !== null && said.format !== undefined && columns.data !== undefined && !members.isPending,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return { looked, columns: columns.data ?? [], members: members.data ?? [] };
}

/** Reads the content of a file with the chosen settings. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type DateOrder, type FileFormat, placesOf, surveyFile } from '@muster/import-files';
import { type BoardColumn, type Member } from '@muster/registry';
import { useClient } from '../data/context.ts';
import { membersQuery } from '../data/people-queries.ts';
import { columnsQuery } from '../settings/queries.ts';
import { type ChosenFields } from './csv-columns.tsx';
import { addressesOf } from './people-table.tsx';
import { openImportFile } from './reading.ts';

/** A file and the settings for reading it. */
export interface ImportSettings {
  /** The format; undefined until a file is recognized or the format is chosen. */
  readonly format: FileFormat | undefined;
  /** The chosen file. The number increases with each choice, even of a file with the same name. */
  readonly chosen: { readonly number: number; readonly blob: File } | null;
  readonly site: string;
  readonly source: string;
  readonly dates: DateOrder | '';
  /** The columns of the board, by the statuses of the file. */
  readonly places: ChosenFields;
  /** The columns of the file, by field. */
  readonly fields: ChosenFields;
  /** The addresses of members, by the names in the file. */
  readonly persons: ChosenFields;
}

export const initialSettings: ImportSettings = {
  ...{ format: undefined, chosen: null, site: '', source: '', dates: '' },
  ...{ places: {}, fields: {}, persons: {} },
};

async function readPreview(
  { format, chosen, site, source, dates, places, fields, persons }: ImportSettings,
  columns: readonly BoardColumn[] | undefined,
  members: readonly Member[],
) {
  if (chosen === null || format === undefined) throw new Error('no file is chosen');
  const file = await openImportFile(format, chosen.blob, {
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

/** Reads the file again whenever a setting changes. */
export function useImportPreview(projectId: string, wish: ImportSettings) {
  const client = useClient();
  const columns = useQuery(columnsQuery(client, projectId));
  const members = useQuery(membersQuery(client));
  const { chosen, ...said } = wish;
  const looked = useQuery({
    queryKey: ['file', chosen?.number, said, columns.data, members.data],
    queryFn: () => readPreview(wish, columns.data, members.data ?? []),
    enabled: chosen !== null && said.format !== undefined && columns.data !== undefined && !members.isPending,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return { looked, columns: columns.data ?? [], members: members.data ?? [] };
}

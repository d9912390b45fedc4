/** Reads the content of a file with the chosen settings. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type DateOrder, type FileFormat, createStatusMapper, surveyFile } from '@muster/import-files';
import { type BoardColumn, type Member } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { membersQuery } from '../data/people-queries.ts';
import { columnsQuery } from '../settings/queries.ts';
import { type ChosenValues } from './csv-columns.tsx';
import { emailsByPersonName } from './people-table.tsx';
import { openImportFile } from './reading.ts';

/** A file and the settings for reading it. */
export interface ImportSettings {
  /** The format; undefined until a file is recognized or the format is chosen. */
  readonly format: FileFormat | undefined;
  /** The chosen file. The number increases with each choice, even of a file with the same name. */
  readonly chosenFile: { readonly number: number; readonly blob: File } | null;
  readonly site: string;
  readonly source: string;
  readonly dates: DateOrder | '';
  /** The columns of the board, by the statuses of the file. */
  readonly columnsByStatus: ChosenValues;
  /** The columns of the file, by field. */
  readonly columnsByField: ChosenValues;
  /** The addresses of members, by the names in the file. */
  readonly emailsByName: ChosenValues;
}

export const initialSettings: ImportSettings = {
  ...{ format: undefined, chosenFile: null, site: '', source: '', dates: '' },
  ...{ columnsByStatus: {}, columnsByField: {}, emailsByName: {} },
};

async function readPreview(
  { format, chosenFile, site, source, dates, columnsByStatus, columnsByField, emailsByName }: ImportSettings,
  columns: readonly BoardColumn[] | undefined,
  members: readonly Member[],
) {
  if (chosenFile === null || format === undefined) throw new Error('no file is chosen');
  const file = await openImportFile(format, chosenFile.blob, {
    ...(format === 'csv' && { columnMapping: new Map(Object.entries(columnsByField)) }),
    ...(source !== '' && { sourceName: source }),
    ...(site !== '' && { siteUrl: site }),
  });
  const fitting = {
    findStatusTarget: createStatusMapper(columns, new Map(Object.entries(columnsByStatus))),
    ...(dates !== '' && { dateOrder: dates }),
    emailsByName: emailsByPersonName(members, emailsByName),
  };
  return { file, fitting, survey: await surveyFile(file, fitting) };
}

/** Reads the file again whenever a setting changes. */
export function useImportPreview(projectId: string, settings: ImportSettings) {
  const client = useClient();
  const columns = useQuery(columnsQuery(client, projectId));
  const members = useQuery(membersQuery(client));
  const { chosenFile, ...said } = settings;
  const looked = useQuery({
    queryKey: ['file', chosenFile?.number, said, columns.data, members.data],
    queryFn: () => readPreview(settings, columns.data, members.data ?? []),
    enabled:
      chosenFile !== null && said.format !== undefined && columns.data !== undefined && !members.isPending,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return { looked, columns: columns.data ?? [], members: members.data ?? [] };
}

/** A file of another tracker: chosen, looked at, brought in. */
import './without-scripts.ts';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type DateOrder,
  type FileFormat,
  fileFormats,
  importNameOf,
  NoImport,
  placesOf,
  surveyFile,
} from '@muster/import-files';
import { useClient } from '../data/context.ts';
import { reasonFor } from '../parts/notices.tsx';
import { Loading } from '../parts/states.tsx';
import { Choice, Label } from '../settings/parts.tsx';
import { membersQuery } from '../data/people-queries.ts';
import { columnsQuery } from '../settings/queries.ts';
import { i } from '../texts/imports.ts';
import { CsvColumns, headOf, type Said } from './csv-columns.tsx';
import { addressesOf } from './people-table.tsx';
import { Preview } from './preview.tsx';
import { open } from './reading.ts';
import { Progress } from './progress.tsx';
import { start, useRun } from './runs.ts';

/** What each tracker writes. */
const types: Readonly<Record<FileFormat, string>> = {
  ...{ linear: '.csv,.json', jira: '.csv,.json', github: '.json', plane: '.csv,.json', trello: '.json' },
  csv: '.csv,.tsv,.txt',
};

let files = 0;
/** Each choice of a file is another, also of the same name. */
interface Chosen {
  readonly number: number;
  readonly blob: File;
}

const reasonOf = (error: unknown): string => {
  if (error instanceof NoImport) return error.message;
  return error instanceof DOMException ? i.gone : reasonFor(error);
};

export function BringIn({
  projectId,
  projectKey,
  onOther,
}: {
  readonly projectId: string;
  readonly projectKey: string;
  readonly onOther: () => void;
}) {
  const client = useClient();
  const run = useRun(projectId);
  const columns = useQuery(columnsQuery(client, projectId));
  const [format, setFormat] = useState<FileFormat>(fileFormats[0]);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [options, setOptions] = useState({ site: '', source: '' });
  const [dates, setDates] = useState<DateOrder | ''>('');
  const [places, setPlaces] = useState<Said>({});
  const [fields, setFields] = useState<Said>({});
  const members = useQuery(membersQuery(client));
  const [persons, setPersons] = useState<Said>({});
  const [theirs, setTheirs] = useState(false);
  const looked = useQuery({
    queryKey: [
      'file',
      chosen?.number,
      format,
      options,
      dates,
      places,
      fields,
      persons,
      columns.data,
      members.data,
    ],
    queryFn: async () => {
      if (chosen === null) throw new Error('no file is chosen');
      const file = await open(format, chosen.blob, {
        ...(format === 'csv' && { map: new Map(Object.entries(fields)) }),
        ...(options.source !== '' && { source: options.source }),
        ...(options.site !== '' && { site: options.site }),
      });
      const fitting = {
        placeOf: placesOf(columns.data, new Map(Object.entries(places))),
        ...(dates !== '' && { dates }),
        people: addressesOf(members.data ?? [], persons),
      };
      return { file, fitting, survey: await surveyFile(file, fitting) };
    },
    enabled: chosen !== null && columns.data !== undefined && !members.isPending,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  const head = useQuery({
    queryKey: ['file', 'head', chosen?.number],
    queryFn: () => headOf(chosen?.blob),
    enabled: chosen !== null && format === 'csv',
    gcTime: 0,
  });
  const lack = looked.error instanceof NoImport ? looked.error.lack : undefined;

  if (run !== undefined)
    return <Progress run={run} projectId={projectId} projectKey={projectKey} onOther={onOther} />;

  const bringIn = (): void => {
    if (chosen === null || looked.data === undefined) return;
    const { file, fitting, survey } = looked.data;
    const name = chosen.blob.name;
    start(projectId, {
      ...{ name, file, fitting, total: survey.entries },
      into: {
        ...{ imports: client.imports, project: projectId, theirs },
        name: importNameOf(format, name, options.source),
      },
    });
  };
  return (
    <div className="form" aria-busy={looked.isFetching}>
      <div className="form-row">
        <Choice
          label={i.format}
          value={format}
          words={i.formats}
          onChange={(next) => {
            setFormat(next);
            setChosen(null);
          }}
        />
        <Label name={i.file} hint={i.fileHint}>
          <input
            key={format}
            className="field"
            type="file"
            accept={types[format]}
            onChange={({ target }) => {
              const [blob] = target.files ?? [];
              files += 1;
              setChosen(blob === undefined ? null : { number: files, blob });
              setPlaces({});
              setFields({});
              setPersons({});
            }}
          />
        </Label>
      </div>
      <p className="hint">{i.files[format]}</p>
      {format === 'jira' && (
        <Label name={i.site} hint={i.siteHint}>
          <input
            className="field"
            type="url"
            value={options.site}
            onChange={({ target }) => setOptions({ ...options, site: target.value })}
          />
        </Label>
      )}
      {(format === 'csv' || format === 'plane') && (
        <Label name={i.source} hint={i.sourceHint}>
          <input
            className="field"
            maxLength={60}
            value={options.source}
            onChange={({ target }) => setOptions({ ...options, source: target.value })}
          />
        </Label>
      )}
      {(lack === 'dates' || dates !== '') && (
        <Choice label={i.dates} value={dates} words={i.dateOrders} onChange={setDates} />
      )}
      {format === 'csv' && head.data !== undefined && (
        <CsvColumns head={head.data} said={fields} onSay={setFields} />
      )}
      {looked.isLoading && <Loading label={i.reading} rows={3} />}
      {looked.isError && lack !== 'dates' && (
        <div className="state-line" role="alert">
          <strong>{i.unreadable}</strong>
          <p>{reasonOf(looked.error)}</p>
        </div>
      )}
      {chosen !== null && looked.data !== undefined && !looked.isError && (
        <Preview
          survey={looked.data.survey}
          columns={columns.data ?? []}
          members={members.data ?? []}
          isBusy={looked.isPlaceholderData}
          theirs={theirs}
          onTheirs={setTheirs}
          onPlace={(status, column) => setPlaces({ ...places, [status]: column })}
          onPerson={(person, email) => setPersons({ ...persons, [person.toLowerCase()]: email })}
          onRun={bringIn}
        />
      )}
    </div>
  );
}

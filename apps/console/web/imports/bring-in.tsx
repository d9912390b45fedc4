/** Imports a file of another tracker: choose, preview, import. */
import './without-scripts.ts';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { importNameOf, type Lack, NoImport, recognizeFormat } from '@muster/import-files';
import { useClient } from '../data/context.ts';
import { errorText } from '../components/notices.tsx';
import { Loading } from '../components/states.tsx';
import { SelectField, FormField } from '../settings/components.tsx';
import { importTexts } from '../messages/imports.ts';
import { CsvColumns, headOf } from './csv-columns.tsx';
import { initialSettings, useImportPreview, type ImportSettings } from './looked.ts';
import { Preview } from './preview.tsx';
import { Progress } from './progress.tsx';
import { textOf } from './reading.ts';
import { start, useRun } from './runs.ts';

let files = 0;

const importErrorText = (error: unknown): string => {
  if (error instanceof NoImport) return error.message;
  return error instanceof DOMException ? importTexts.gone : errorText(error);
};

interface SettingsProps {
  readonly wish: ImportSettings;
  readonly say: (change: Partial<ImportSettings>) => void;
}

/** An unreadable file is not recognized; reading it in the chosen format then reports the reason. */
const formatOf = (blob: Blob) => recognizeFormat(() => textOf(blob)).catch(() => undefined);

function FileFields({ wish: { format }, say }: SettingsProps) {
  /** A format chosen by hand is kept, whatever the content of the file. */
  const isChosenByHand = useRef(false);
  const choose = async (blob: File | undefined): Promise<void> => {
    files += 1;
    const number = files;
    const recognized = blob === undefined || isChosenByHand.current ? undefined : await formatOf(blob);
    // Another file was chosen in the meantime.
    if (number !== files) return;
    say({
      ...{ chosen: blob === undefined ? null : { number, blob }, places: {}, fields: {}, persons: {} },
      ...(recognized !== undefined && { format: recognized }),
    });
  };
  return (
    <>
      <div className="form-row">
        <FormField name={importTexts.file} hint={importTexts.fileHint}>
          <input
            className="field"
            type="file"
            accept=".csv,.tsv,.txt,.json"
            onChange={({ target }) => void choose(target.files?.[0])}
          />
        </FormField>
        <SelectField
          label={importTexts.format}
          value={format ?? ''}
          words={{ '': importTexts.chooseFormat, ...importTexts.formats }}
          onChange={(next) => {
            if (next === '') return;
            isChosenByHand.current = true;
            say({ format: next });
          }}
        />
      </div>
      {format !== undefined && <p className="hint">{importTexts.files[format]}</p>}
    </>
  );
}

/** Fields for information that the file itself does not contain. */
function ReadingFields({ wish, say, lack }: SettingsProps & { readonly lack: Lack | undefined }) {
  const { format, chosen, site, source, dates, fields } = wish;
  const head = useQuery({
    queryKey: ['file', 'head', chosen?.number],
    queryFn: () => headOf(chosen?.blob),
    enabled: chosen !== null && format === 'csv',
    gcTime: 0,
  });
  return (
    <>
      {format === 'jira' && (
        <FormField name={importTexts.site} hint={importTexts.siteHint}>
          <input
            className="field"
            type="url"
            value={site}
            onChange={({ target }) => say({ site: target.value })}
          />
        </FormField>
      )}
      {(format === 'csv' || format === 'plane') && (
        <FormField name={importTexts.source} hint={importTexts.sourceHint}>
          <input
            className="field"
            maxLength={60}
            value={source}
            onChange={({ target }) => say({ source: target.value })}
          />
        </FormField>
      )}
      {(lack === 'dates' || dates !== '') && (
        <SelectField
          label={importTexts.dates}
          value={dates}
          words={importTexts.dateOrders}
          onChange={(next) => say({ dates: next })}
        />
      )}
      {format === 'csv' && head.data !== undefined && (
        <CsvColumns head={head.data} said={fields} onSay={(next) => say({ fields: next })} />
      )}
    </>
  );
}

function FileForm({ projectId }: { readonly projectId: string }) {
  const { imports } = useClient();
  const [wish, setWish] = useState(initialSettings);
  const [theirs, setTheirs] = useState(false);
  const say = (change: Partial<ImportSettings>): void => setWish((last) => ({ ...last, ...change }));
  const { looked, columns, members } = useImportPreview(projectId, wish);
  const { format, chosen, source, places, persons } = wish;
  const lack = looked.error instanceof NoImport ? looked.error.lack : undefined;
  const bringIn = (): void => {
    if (chosen === null || format === undefined || looked.data === undefined) return;
    const { file, fitting, survey } = looked.data;
    const name = chosen.blob.name;
    start(projectId, {
      ...{ name, file, fitting, total: survey.entries },
      into: { imports, project: projectId, theirs, name: importNameOf(format, name, source) },
    });
  };
  return (
    <div className="form" aria-busy={looked.isFetching}>
      <FileFields wish={wish} say={say} />
      <ReadingFields wish={wish} say={say} lack={lack} />
      {looked.isLoading && <Loading label={importTexts.reading} rows={3} />}
      {looked.isError && lack !== 'dates' && (
        <div className="state-line" role="alert">
          <strong>{importTexts.unreadable}</strong>
          <p>{importErrorText(looked.error)}</p>
        </div>
      )}
      {chosen !== null && looked.data !== undefined && !looked.isError && (
        <Preview
          survey={looked.data.survey}
          columns={columns}
          members={members}
          isBusy={looked.isPlaceholderData}
          theirs={theirs}
          onTheirs={setTheirs}
          onPlace={(status, column) => say({ places: { ...places, [status]: column } })}
          onPerson={(person, email) => say({ persons: { ...persons, [person.toLowerCase()]: email } })}
          onRun={bringIn}
        />
      )}
    </div>
  );
}

export function BringIn({
  projectId,
  projectKey,
  onOther,
}: {
  readonly projectId: string;
  readonly projectKey: string;
  readonly onOther: () => void;
}) {
  const run = useRun(projectId);
  return run === undefined ? (
    <FileForm projectId={projectId} />
  ) : (
    <Progress run={run} projectId={projectId} projectKey={projectKey} onOther={onOther} />
  );
}

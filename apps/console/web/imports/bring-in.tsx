/** Imports a file of another tracker: choose, preview, import. */
import './without-scripts.ts';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import {
  buildImportName,
  type MissingInformation,
  UnreadableFileError,
  recognizeFormat,
} from '@muster/import-files';
import { useClient } from '../data/context.ts';
import { errorText } from '../components/notices.tsx';
import { Loading } from '../components/states.tsx';
import { SelectField, FormField } from '../settings/components.tsx';
import { importTexts } from '../messages/imports.ts';
import { CsvColumnMapping, readHeaderOfFile } from './csv-columns.tsx';
import { initialSettings, useImportPreview, type ImportSettings } from './looked.ts';
import { ImportPreview } from './preview.tsx';
import { ImportProgress } from './progress.tsx';
import { readText } from './reading.ts';
import { startImport, useImportRun } from './runs.ts';

let chosenFileCount = 0;

const importErrorMessage = (error: unknown): string => {
  if (error instanceof UnreadableFileError) return error.message;
  return error instanceof DOMException ? importTexts.gone : errorText(error);
};

interface ImportSettingsProps {
  readonly settings: ImportSettings;
  readonly changeSettings: (change: Partial<ImportSettings>) => void;
}

/** An unreadable file is not recognized; reading it in the chosen format then reports the reason. */
const detectFormat = (blob: Blob) => recognizeFormat(() => readText(blob)).catch(() => undefined);

function FileFields({ settings: { format }, changeSettings }: ImportSettingsProps) {
  /** A format chosen by hand is kept, whatever the content of the file. */
  const isChosenByHand = useRef(false);
  const choose = async (blob: File | undefined): Promise<void> => {
    chosenFileCount += 1;
    const number = chosenFileCount;
    const recognized = blob === undefined || isChosenByHand.current ? undefined : await detectFormat(blob);
    // Another file was chosen in the meantime.
    if (number !== chosenFileCount) return;
    changeSettings({
      chosenFile: blob === undefined ? null : { number, blob },
      columnsByStatus: {},
      columnsByField: {},
      emailsByName: {},
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
          optionLabels={{ '': importTexts.chooseFormat, ...importTexts.formats }}
          onChange={(next) => {
            if (next === '') return;
            isChosenByHand.current = true;
            changeSettings({ format: next });
          }}
        />
      </div>
      {format !== undefined && <p className="hint">{importTexts.files[format]}</p>}
    </>
  );
}

/** Fields for information that the file itself does not contain. */
function ReadingFields({
  settings,
  changeSettings,
  lack: missingInformation,
}: ImportSettingsProps & { readonly lack: MissingInformation | undefined }) {
  const { format, chosenFile, site, source, dates, columnsByField } = settings;
  const head = useQuery({
    queryKey: ['file', 'head', chosenFile?.number],
    queryFn: () => readHeaderOfFile(chosenFile?.blob),
    enabled: chosenFile !== null && format === 'csv',
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
            onChange={({ target }) => changeSettings({ site: target.value })}
          />
        </FormField>
      )}
      {(format === 'csv' || format === 'plane') && (
        <FormField name={importTexts.source} hint={importTexts.sourceHint}>
          <input
            className="field"
            maxLength={60}
            value={source}
            onChange={({ target }) => changeSettings({ source: target.value })}
          />
        </FormField>
      )}
      {(missingInformation === 'dates' || dates !== '') && (
        <SelectField
          label={importTexts.dates}
          value={dates}
          optionLabels={importTexts.dateOrders}
          onChange={(next) => changeSettings({ dates: next })}
        />
      )}
      {format === 'csv' && head.data !== undefined && (
        <CsvColumnMapping
          header={head.data}
          chosenColumns={columnsByField}
          onColumnsChange={(next) => changeSettings({ columnsByField: next })}
        />
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
  const { format, chosenFile, source, columnsByStatus, emailsByName } = wish;
  const lack = looked.error instanceof UnreadableFileError ? looked.error.lack : undefined;
  const bringIn = (): void => {
    if (chosenFile === null || format === undefined || looked.data === undefined) return;
    const { file, fitting, survey } = looked.data;
    const name = chosenFile.blob.name;
    startImport(projectId, {
      ...{ name, file, fitting, entryCount: survey.entries },
      destination: { imports, project: projectId, theirs, name: buildImportName(format, name, source) },
    });
  };
  return (
    <div className="form" aria-busy={looked.isFetching}>
      <FileFields settings={wish} changeSettings={say} />
      <ReadingFields settings={wish} changeSettings={say} lack={lack} />
      {looked.isLoading && <Loading label={importTexts.reading} rows={3} />}
      {looked.isError && lack !== 'dates' && (
        <div className="state-line" role="alert">
          <strong>{importTexts.unreadable}</strong>
          <p>{importErrorMessage(looked.error)}</p>
        </div>
      )}
      {chosenFile !== null && looked.data !== undefined && !looked.isError && (
        <ImportPreview
          survey={looked.data.survey}
          columns={columns}
          members={members}
          isBusy={looked.isPlaceholderData}
          overwritesStories={theirs}
          onOverwriteChange={setTheirs}
          onColumnChange={(status, column) =>
            say({ columnsByStatus: { ...columnsByStatus, [status]: column } })
          }
          onMemberChange={(person, email) =>
            say({ emailsByName: { ...emailsByName, [person.toLowerCase()]: email } })
          }
          onImport={bringIn}
        />
      )}
    </div>
  );
}

interface ImportPanelProps {
  readonly projectId: string;
  readonly projectKey: string;
  readonly onNewImport: () => void;
}

export function ImportPanel({ projectId, projectKey, onNewImport }: ImportPanelProps) {
  const run = useImportRun(projectId);
  return run === undefined ? (
    <FileForm projectId={projectId} />
  ) : (
    <ImportProgress run={run} projectId={projectId} projectKey={projectKey} onNewImport={onNewImport} />
  );
}

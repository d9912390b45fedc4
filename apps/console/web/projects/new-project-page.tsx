/** The page that creates a project from a name and the key that prefixes its stories. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useRef, useState } from 'react';
import { isRefusal } from '@muster/client';
import { type Project } from '@muster/contract';
import { useClient } from '../data/context.ts';
import { projectsQuery } from '../data/queries.ts';
import { showNotice, errorText } from '../components/notices.tsx';
import { forbiddenError, LoadError } from '../components/states.tsx';
import { useTitle } from '../components/title.ts';
import { SelectField, Form, FormField } from '../settings/components.tsx';
import { useMayCreateProjects } from '../settings/rights.ts';
import { texts } from '../messages/projects.ts';
import { t } from '../messages/index.ts';
import { toProjectKey, suggestProjectKey } from './key.ts';

export function NewProjectPage() {
  useTitle(t.nav.newProject);
  const mayMake = useMayCreateProjects();
  const navigate = useNavigate();
  const openBoard = ({ key: projectKey }: Project): Promise<void> =>
    navigate({ to: '/p/$projectKey', params: { projectKey }, ignoreBlocker: true });
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.newProject}</h1>
      </header>
      <div className="page">
        <div className="page-column">
          {mayMake ? <NewProjectForm onCreated={openBoard} /> : <LoadError error={forbiddenError} />}
        </div>
      </div>
    </>
  );
}

/** Derives the key from the name until the reader enters another key. */
function useSuggestedKey(name: string) {
  const projects = useQuery(projectsQuery(useClient()));
  const [ownKey, setOwnKey] = useState<string | null>(null);
  /** The keys of projects that the reader cannot see, learned from refusals. */
  const [refused, setRefused] = useState<readonly string[]>([]);
  const taken = new Set([...(projects.data ?? []).map(({ key }) => key), ...refused]);
  const key = ownKey ?? suggestProjectKey(name, taken);
  return {
    key,
    isTaken: taken.has(key),
    write: (typed: string) => setOwnKey(typed === '' ? null : toProjectKey(typed)),
    refuse: () => {
      setRefused((last) => [...last, key]);
      // The refused key stays in the field, so that the message matches it.
      setOwnKey(key);
    },
  };
}

interface KeyFieldProps {
  readonly inputRef: RefObject<HTMLInputElement | null>;
  readonly value: string;
  readonly isTaken: boolean;
  readonly onKeyTyped: (typed: string) => void;
}

const KeyField = ({ inputRef, value, isTaken, onKeyTyped }: KeyFieldProps) => (
  <FormField
    name={texts.key}
    hint={value === '' ? texts.keyRule : texts.keyHint(value)}
    errorMessage={isTaken ? texts.keyTaken(value) : undefined}
  >
    <input
      ref={inputRef}
      className="field mono"
      required
      pattern="[A-Z][A-Z0-9]{1,9}"
      title={texts.keyRule}
      maxLength={10}
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={({ target }) => onKeyTyped(target.value)}
    />
  </FormField>
);

interface NewProjectFormProps {
  readonly onCreated: (project: Project) => Promise<void> | void;
}

export function NewProjectForm({ onCreated }: NewProjectFormProps) {
  const client = useClient();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const { key, refuse, ...keys } = useSuggestedKey(name);
  const [description, setDescription] = useState('');
  const [visibility, setVisibility] = useState<keyof typeof texts.visibilities>('org');
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const keyField = useRef<HTMLInputElement>(null);
  const namesake = useQuery(projectsQuery(client)).data?.find(
    (project) => project.name.toLowerCase() === name.trim().toLowerCase(),
  );
  const nameHint = namesake === undefined ? texts.nameHint : texts.nameTaken(namesake.key);
  // While the project is being created, and afterwards, the key is taken by that project itself.
  const isTaken = !isBusy && keys.isTaken;

  const make = async (): Promise<boolean> => {
    if (isTaken) {
      keyField.current?.focus();
      return false;
    }
    setBusy(true);
    setFailure(null);
    try {
      const wish = { key, name: name.trim(), visibility };
      const about = description.trim();
      const { project } = await client.projects.create(about === '' ? wish : { ...wish, description: about });
      await queries.invalidateQueries({ queryKey: ['projects'] });
      showNotice({ tone: 'good', title: texts.made(project.name) });
      await onCreated(project);
      return true;
    } catch (error) {
      if (isRefusal(error, 'already_exists')) {
        refuse();
        keyField.current?.focus();
      } else setFailure(error);
      setBusy(false);
      return false;
    }
  };

  return (
    <Form submitLabel={texts.make} isBusy={isBusy} onSubmit={make}>
      <p className="muted">{texts.intro}</p>
      <div className="form-row">
        <FormField name={texts.name} hint={nameHint}>
          <input
            className="field"
            required
            autoFocus
            maxLength={120}
            autoComplete="off"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </FormField>
        <KeyField inputRef={keyField} value={key} isTaken={isTaken} onKeyTyped={keys.write} />
      </div>
      <FormField name={texts.description} hint={texts.optional}>
        <textarea
          className="field"
          rows={3}
          maxLength={20_000}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
      </FormField>
      <SelectField
        label={texts.visibility}
        value={visibility}
        optionLabels={texts.visibilities}
        onChange={setVisibility}
      />
      {failure !== null && (
        <p className="form-error" role="alert">
          <strong>{texts.failed}.</strong> {errorText(failure)}
        </p>
      )}
    </Form>
  );
}

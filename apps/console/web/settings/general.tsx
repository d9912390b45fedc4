/** The names of the organization and of a project, and a project's visibility. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type Project } from '@muster/contract';
import { useClient, useConsole } from '../data/context.ts';
import { orgQuery } from '../data/queries.ts';
import { texts } from '../messages/settings.ts';
import { ConfirmButton } from '../components/ask.tsx';
import { SelectField, Form, FormField, Section, useSettingsWrite } from './components.tsx';
import { useIsAdmin } from './rights.ts';

/**
 * The fields that the reader has changed and not yet saved. The form shows the server's value for all other
 * fields.
 */
interface UnsavedFields {
  readonly name?: string;
  readonly slug?: string;
  readonly description?: string;
}

export function OrganizationGeneralSettings() {
  const { session } = useConsole();
  const { orgs } = session.client;
  const { data: org } = useQuery(orgQuery(session));
  const isAdmin = useIsAdmin();
  const [typed, setTyped] = useState<UnsavedFields>({});
  const { name, slug, description } = { ...org, ...typed };
  const { isBusy, run } = useSettingsWrite('org');
  const save = async (): Promise<boolean> => {
    const isDone = await run(() => orgs.update({ ...typed, expectedVersion: org.version }), texts.saved);
    // Text that was typed during the save is not saved yet.
    if (isDone) setTyped((last) => (last === typed ? {} : last));
    return isDone;
  };
  return (
    <Section id="general" title={texts.sections.general} intro={texts.general.intro}>
      <Form submitLabel={texts.save} isBusy={isBusy || !isAdmin} onSubmit={save}>
        <div className="form-row">
          <FormField name={texts.name}>
            <input
              className="field"
              required
              maxLength={120}
              disabled={!isAdmin}
              value={name}
              onChange={({ target }) => setTyped({ ...typed, name: target.value })}
            />
          </FormField>
          <FormField name={texts.general.slug} hint={texts.general.slugHint}>
            <input
              className="field mono"
              required
              pattern="[a-z0-9\-]{3,40}"
              disabled={!isAdmin}
              value={slug}
              onChange={({ target }) => setTyped({ ...typed, slug: target.value })}
            />
          </FormField>
        </div>
        <FormField name={texts.general.description}>
          <textarea
            className="field"
            rows={3}
            maxLength={2_000}
            disabled={!isAdmin}
            value={description ?? ''}
            onChange={({ target }) => setTyped({ ...typed, description: target.value })}
          />
        </FormField>
      </Form>
    </Section>
  );
}

export function ProjectGeneralSettings({ project }: { readonly project: Project }) {
  const { projects } = useClient();
  const { isBusy, run } = useSettingsWrite('projects');
  const [typed, setTyped] = useState<UnsavedFields & Partial<Pick<Project, 'visibility'>>>({});
  const { name, description, visibility } = { ...project, ...typed };
  const { id: projectId, version: expectedVersion, archivedAt } = project;
  const update = (change: object): Promise<boolean> =>
    run(() => projects.update({ projectId, expectedVersion, ...change }), texts.saved);
  const save = async (): Promise<boolean> => {
    const isDone = await update({ name, visibility, description: description ?? '' });
    // Text that was typed during the save is not saved yet.
    if (isDone) setTyped((last) => (last === typed ? {} : last));
    return isDone;
  };
  const isArchived = archivedAt !== null;
  return (
    <>
      <Section id="general" title={texts.sections.general} intro={texts.projectGeneral.intro}>
        <Form submitLabel={texts.save} isBusy={isBusy || isArchived} onSubmit={save}>
          <div className="form-row">
            <FormField name={texts.name}>
              <input
                className="field"
                required
                maxLength={120}
                value={name}
                onChange={({ target }) => setTyped({ ...typed, name: target.value })}
              />
            </FormField>
            <SelectField
              label={texts.projectGeneral.visibility}
              value={visibility}
              optionLabels={texts.projectGeneral.visibilities}
              onChange={(next) => setTyped({ ...typed, visibility: next })}
            />
          </div>
          <FormField name={texts.general.description}>
            <textarea
              className="field"
              rows={3}
              maxLength={20_000}
              value={description ?? ''}
              onChange={({ target }) => setTyped({ ...typed, description: target.value })}
            />
          </FormField>
        </Form>
      </Section>
      <Section
        id="archive"
        title={isArchived ? texts.projectGeneral.unarchive : texts.projectGeneral.archive}
        intro={texts.projectGeneral.archiveWhy}
        headerAction={
          isArchived ? (
            <button
              type="button"
              className="button"
              disabled={isBusy}
              onClick={() => void update({ archived: false })}
            >
              {texts.projectGeneral.unarchive}
            </button>
          ) : (
            <ConfirmButton
              actionLabel={texts.projectGeneral.archive}
              subject=""
              title={texts.projectGeneral.archive}
              explanation={texts.projectGeneral.archiveWhy}
              onConfirm={() => update({ archived: true })}
            />
          )
        }
      >
        {null}
      </Section>
    </>
  );
}

/** The names of the organization and of a project, and a project's visibility. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Project } from '@muster/registry';
import { useClient, useConsole } from '../data/context.ts';
import { orgQuery } from '../data/queries.ts';
import { s } from '../messages/settings.ts';
import { Ask } from '../components/ask.tsx';
import { Choice, Form, Label, Section, useWrite } from './components.tsx';
import { useIsAdmin } from './rights.ts';

/** Fields that were changed here and are not saved yet. All others follow the server. */
interface Typed {
  readonly name?: string;
  readonly slug?: string;
  readonly description?: string;
}

export function OrganizationGeneral() {
  const { session } = useConsole();
  const { orgs } = session.client;
  const { data: org } = useQuery(orgQuery(session));
  const isAdmin = useIsAdmin();
  const [typed, setTyped] = useState<Typed>({});
  const { name, slug, description } = { ...org, ...typed };
  const queries = useQueryClient();
  const { isBusy, run } = useWrite();
  const save = async (): Promise<boolean> => {
    const isDone = await run(() => orgs.update({ ...typed, expectedVersion: org.version }), s.saved);
    await queries.invalidateQueries({ queryKey: ['org'] });
    // Text that was typed during the save is not saved yet.
    if (isDone) setTyped((last) => (last === typed ? {} : last));
    return isDone;
  };
  return (
    <Section id="general" title={s.sections.general} intro={s.general.intro}>
      <Form act={s.save} isBusy={isBusy || !isAdmin} onSubmit={save}>
        <div className="form-row">
          <Label name={s.name}>
            <input
              className="field"
              required
              maxLength={120}
              disabled={!isAdmin}
              value={name}
              onChange={({ target }) => setTyped({ ...typed, name: target.value })}
            />
          </Label>
          <Label name={s.general.slug} hint={s.general.slugHint}>
            <input
              className="field mono"
              required
              pattern="[a-z0-9\-]{3,40}"
              disabled={!isAdmin}
              value={slug}
              onChange={({ target }) => setTyped({ ...typed, slug: target.value })}
            />
          </Label>
        </div>
        <Label name={s.general.description}>
          <textarea
            className="field"
            rows={3}
            maxLength={2_000}
            disabled={!isAdmin}
            value={description ?? ''}
            onChange={({ target }) => setTyped({ ...typed, description: target.value })}
          />
        </Label>
      </Form>
    </Section>
  );
}

export function ProjectGeneral({ project }: { readonly project: Project }) {
  const { projects } = useClient();
  const queries = useQueryClient();
  const { isBusy, run } = useWrite();
  const [typed, setTyped] = useState<Typed & Partial<Pick<Project, 'visibility'>>>({});
  const { name, description, visibility } = { ...project, ...typed };
  const { id: projectId, version: expectedVersion, archivedAt } = project;
  const update = async (change: object): Promise<boolean> => {
    const isDone = await run(() => projects.update({ projectId, expectedVersion, ...change }), s.saved);
    await queries.invalidateQueries({ queryKey: ['projects'] });
    return isDone;
  };
  const save = async (): Promise<boolean> => {
    const isDone = await update({ name, visibility, description: description ?? '' });
    // Text that was typed during the save is not saved yet.
    if (isDone) setTyped((last) => (last === typed ? {} : last));
    return isDone;
  };
  const isArchived = archivedAt !== null;
  return (
    <>
      <Section id="general" title={s.sections.general} intro={s.projectGeneral.intro}>
        <Form act={s.save} isBusy={isBusy || isArchived} onSubmit={save}>
          <div className="form-row">
            <Label name={s.name}>
              <input
                className="field"
                required
                maxLength={120}
                value={name}
                onChange={({ target }) => setTyped({ ...typed, name: target.value })}
              />
            </Label>
            <Choice
              label={s.projectGeneral.visibility}
              value={visibility}
              words={s.projectGeneral.visibilities}
              onChange={(next) => setTyped({ ...typed, visibility: next })}
            />
          </div>
          <Label name={s.general.description}>
            <textarea
              className="field"
              rows={3}
              maxLength={20_000}
              value={description ?? ''}
              onChange={({ target }) => setTyped({ ...typed, description: target.value })}
            />
          </Label>
        </Form>
      </Section>
      <Section
        id="archive"
        title={isArchived ? s.projectGeneral.unarchive : s.projectGeneral.archive}
        intro={s.projectGeneral.archiveWhy}
        act={
          isArchived ? (
            <button
              type="button"
              className="button"
              disabled={isBusy}
              onClick={() => void update({ archived: false })}
            >
              {s.projectGeneral.unarchive}
            </button>
          ) : (
            <Ask
              act={s.projectGeneral.archive}
              about=""
              title={s.projectGeneral.archive}
              why={s.projectGeneral.archiveWhy}
              run={() => update({ archived: true })}
            />
          )
        }
      >
        {null}
      </Section>
    </>
  );
}

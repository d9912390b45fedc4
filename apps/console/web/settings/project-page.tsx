import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useClient, useIdentity } from '../data/context.ts';
import { Imports } from '../imports/imports.tsx';
import { Icon } from '../components/icons.tsx';
import { LoadError, Loading } from '../components/states.tsx';
import { storyTexts } from '../messages/story.ts';
import { texts } from '../messages/settings.ts';
import { Budgets } from './budgets.tsx';
import { ColumnSettings } from './columns.tsx';
import { Contracts } from './contracts.tsx';
import { DeletedStories } from './deleted-stories.tsx';
import { Exports } from './exports.tsx';
import { RepositorySettings } from './forges.tsx';
import { SettingsFrame, type SettingsSection } from './frame.tsx';
import { ProjectGeneralSettings } from './general.tsx';
import { ProjectPeople } from './people.tsx';
import { Prompts } from './prompts.tsx';
import { projectQuery } from './queries.ts';
import { Webhooks } from './webhooks.tsx';

const projectSettingsRoute = getRouteApi('/p/$projectKey/settings/$section');

export function ProjectPage() {
  const { projectKey: given, section } = projectSettingsRoute.useParams();
  const projectKey = given.toUpperCase();
  const { agent } = useIdentity();
  const project = useQuery(projectQuery(useClient(), projectKey));
  if (project.data === undefined)
    return project.error === null ? (
      <Loading label={texts.loading} />
    ) : (
      <LoadError isPage error={project.error} onRetry={() => void project.refetch()} />
    );
  const { id: projectId, myRole, archivedAt } = project.data;
  const mayLead = myRole === 'lead';
  const mayWrite = archivedAt === null && myRole !== 'viewer';
  const places: readonly SettingsSection[] = [
    { sectionName: 'people', children: <ProjectPeople projectId={projectId} mayLead={mayLead} /> },
    { sectionName: 'prompts', children: <Prompts projectId={projectId} mayWrite={mayLead && mayWrite} /> },
    { sectionName: 'contracts', children: <Contracts projectId={projectId} mayWrite={mayWrite} /> },
    ...(mayLead && agent === null
      ? ([
          { sectionName: 'budgets', children: <Budgets projectId={projectId} /> },
          { sectionName: 'columns', children: <ColumnSettings projectId={projectId} /> },
          { sectionName: 'webhooks', children: <Webhooks projectId={projectId} /> },
          { sectionName: 'forges', children: <RepositorySettings projectId={projectId} /> },
          {
            sectionName: 'import',
            children: (
              <Imports projectId={projectId} projectKey={projectKey} mayWrite={archivedAt === null} />
            ),
          },
          {
            sectionName: 'deleted',
            children: <DeletedStories projectId={projectId} mayWrite={mayWrite} />,
          },
          { sectionName: 'exports', children: <Exports projectId={projectId} /> },
          { sectionName: 'general', children: <ProjectGeneralSettings project={project.data} /> },
        ] as const)
      : []),
  ];
  return (
    <SettingsFrame
      title={project.data.name}
      projectKey={projectKey}
      sections={places}
      chosenSection={section}
      backLink={
        <Link
          to="/p/$projectKey"
          params={{ projectKey }}
          className="icon-button"
          aria-label={storyTexts.toBoard}
        >
          <Icon name="back" />
        </Link>
      }
    />
  );
}

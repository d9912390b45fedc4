/** The waves of a project, of one of its epics, or of one of its plans. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useClient } from '../data/context.ts';
import { epicsQuery } from '../data/queries.ts';
import { useTitle } from '../components/title.ts';
import { ProjectPageHeader } from '../pages/project-head.tsx';
import { planTexts } from '../messages/plans.ts';
import { plansQuery } from './queries.ts';
import { Waves } from './waves.tsx';

const texts = planTexts.waves;
const wavesRoute = getRouteApi('/p/$projectKey/waves');

function ScopeField({ projectKey }: { readonly projectKey: string }) {
  const client = useClient();
  const navigate = useNavigate({ from: '/p/$projectKey/waves' });
  const { epic, plan } = wavesRoute.useSearch();
  const epics = useQuery(epicsQuery(client, projectKey));
  const plans = useInfiniteQuery(plansQuery(client, projectKey));
  const groups = [
    {
      name: texts.epics,
      param: 'epic' as const,
      options: epics.data?.map(({ id, title }) => ({ id, title })) ?? [],
    },
    {
      name: texts.plans,
      param: 'plan' as const,
      options: plans.data?.map(({ id, ref }) => ({ id, title: ref })) ?? [],
    },
  ].filter(({ options }) => options.length > 0);
  return (
    <select
      className="field trail-field"
      aria-label={texts.scope}
      value={epic !== undefined ? `epic ${epic}` : plan !== undefined ? `plan ${plan}` : ''}
      onChange={({ target }) => {
        const [param, id = ''] = target.value.split(' ');
        void navigate({ search: param === '' || param === undefined ? {} : { [param]: id }, replace: true });
      }}
    >
      <option value="">{texts.project}</option>
      {groups.map(({ name, param, options }) => (
        <optgroup key={param} label={name}>
          {options.map(({ id, title }) => (
            <option key={id} value={`${param} ${id}`}>
              {title}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}

export function WavesPage() {
  const projectKey = wavesRoute.useParams().projectKey.toUpperCase();
  const { epic, plan } = wavesRoute.useSearch();
  useTitle(`${texts.title} ${projectKey}`);
  const scope = {
    ...(epic !== undefined && { epicId: epic }),
    ...(plan !== undefined && { planId: plan }),
  };
  return (
    <>
      <ProjectPageHeader projectKey={projectKey} title={texts.title}>
        <ScopeField projectKey={projectKey} />
        <Link to="/p/$projectKey/plans" params={{ projectKey }} className="button">
          {planTexts.title}
        </Link>
      </ProjectPageHeader>
      <div className="page">
        <Waves projectKey={projectKey} scope={scope} />
      </div>
    </>
  );
}

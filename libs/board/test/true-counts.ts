/** Compares the stored counts of a project's stories with the real ones, for specs. */

/** Lists the wrong counters with their stored and real values. The list is empty if all are right. */
export const wrongCounts = (
  { rows }: { rows: (sql: string, ...parameters: unknown[]) => Promise<unknown[]> },
  projectId: string,
): Promise<unknown[]> =>
  rows(
    `with kept (what, says) as (
       select id::text, array[story_count] from board_columns where project_id = $1
       union all select id::text, array[story_count, done_count] from epics where project_id = $1
       union all select 'canceled', array[canceled_stories] from project_counters where project_id = $1),
     really (what, truth) as (
       select c.id::text, array[count(s.id)] from board_columns c left join stories s on s.column_id = c.id
         where c.project_id = $1 group by c.id
       union all select e.id::text, array[count(s.id), count(s.id) filter (where s.status = 'done')]
         from epics e left join stories s on s.epic_id = e.id and s.status <> 'canceled' where e.project_id = $1 group by e.id
       union all select 'canceled', array[count(*)] from stories where project_id = $1 and status = 'canceled')
     select * from kept full join really using (what) where says::bigint[] is distinct from truth`,
    projectId,
  );

-- Creates the logins of the services, each with only the rights it needs. Run it by psql, as the login that
-- will migrate. Existing logins and their passwords do not change, so you can run it again after a release
-- that adds a login. Migrations create the missing roles and grant their rights.
\getenv api_password API_DATABASE_PASSWORD
\getenv worker_password WORKER_DATABASE_PASSWORD
\getenv license_password LICENSE_DATABASE_PASSWORD
\getenv sign_in_password SIGN_IN_DATABASE_PASSWORD

-- psql does not replace variables within the body of a DO statement, so the passwords are passed as settings
-- of this session.
set muster.coordination_api = :'api_password';
set muster.delivery_worker = :'worker_password';
set muster.license_service = :'license_password';
set muster.sign_in = :'sign_in_password';

do $$
declare
  role_name text;
  login record;
begin
  foreach role_name in array array[
    'muster_app', 'muster_worker', 'muster_licenses', 'muster_license_operators', 'muster_sign_in'
  ] loop
    if to_regrole(role_name) is null then
      execute format('create role %I nologin', role_name);
    end if;
  end loop;

  for login in
    select * from (values
      ('coordination_api', 'muster_app'),
      ('delivery_worker', 'muster_app, muster_worker'),
      ('license_service', 'muster_licenses'),
      ('sign_in', 'muster_sign_in')
    ) as logins (name, roles)
  loop
    if to_regrole(login.name) is null then
      execute format(
        'create role %I login password %L in role %s',
        login.name, current_setting('muster.' || login.name), login.roles);
    end if;
  end loop;
end $$;

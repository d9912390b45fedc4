-- Creates the logins of the services, each with only the rights it needs. Run it once by psql, as the login
-- that will migrate. Migrations create the missing roles and grant their rights.
\getenv api_password API_DATABASE_PASSWORD
\getenv worker_password WORKER_DATABASE_PASSWORD
\getenv license_password LICENSE_DATABASE_PASSWORD
\getenv sign_in_password SIGN_IN_DATABASE_PASSWORD

create role muster_app nologin;
create role muster_worker nologin;
create role muster_licenses nologin;
create role muster_license_operators nologin;
create role muster_sign_in nologin;

create role coordination_api login password :'api_password' in role muster_app;
create role delivery_worker login password :'worker_password' in role muster_app, muster_worker;
create role license_service login password :'license_password' in role muster_licenses;
create role sign_in login password :'sign_in_password' in role muster_sign_in;

export const people = 20;

/** What `work_an_hour` writes in 24 hours. */
export const perDay =
  '408 events of 50 streams, 408 jobs that are leased and done, 96 answers of 600 bytes, 48 sessions of which 24 are ended, ' +
  '24 codes, tokens, identity tokens and claims each, 72 uses of devices, one morning';

/** A function of the session that writes the expiring rows of one hour, one statement for each row, as requests do. */
export const hourOfWork = `
  create function pg_temp.work_an_hour(company bigint, employee bigint, now_at timestamptz) returns void language plpgsql as $$
  declare
    account bigint := (select account_id from employees where company_id = company and employee_id = employee);
    hour integer := extract(epoch from now_at) / 3600;
    key text;
    stream_name text;
    number bigint;
  begin
    for n in 1 .. 17 loop
      stream_name := 'task ' || (hour * 7 + n) % 50;
      insert into event_streams as s (company_id, stream, last_sequence) values (company, stream_name, 1)
      on conflict (company_id, stream) do update set last_sequence = s.last_sequence + 1 returning last_sequence into number;
      insert into events (company_id, stream, sequence, type, payload, at)
      values (company, stream_name, number, 'comment.created', jsonb_build_object('commentId', n, 'taskId', hour, 'actorId', employee), now_at);
      key := 'notify-of-comment ' || hour || ' ' || n;
      insert into jobs (handler, queue, dedupe_key, payload, due_at, created_at)
      values ('notify-of-comment', 'database', key, jsonb_build_object('companyId', company, 'commentId', n), now_at, now_at);
      update jobs set leased_until = now_at + interval '20 seconds', attempts = attempts + 1 where dedupe_key = key;
      delete from jobs where dedupe_key = key;
    end loop;
    for n in 1 .. 4 loop
      key := encode(sha256((hour || ' ' || n)::bytea), 'hex');
      insert into idempotent_answers (key_hash, operation, input_hash, sealed_answer, created_at)
      values (key, 'comments.create', key, decode(repeat(md5(key), 38), 'hex'), now_at);
    end loop;
    for n in 1 .. 2 loop
      insert into sessions (account_id, company_id, employee_id, method, rotated_at, expires_at, user_agent, network, created_at, last_used_at)
      values (account, company, employee, 'password', now_at, now_at + interval '30 days', repeat('agent ', 18), '192.0.2.7', now_at, now_at);
    end loop;
    update sessions set ended_at = now_at, ended_because = 'signed out'
    where session_id = (select max(session_id) from sessions);
    update sessions set last_used_at = now_at where session_id in (select session_id from sessions order by session_id desc limit 8);
    insert into one_time_codes (email, purpose, code_hash, created_at, expires_at)
    values (hour || '@company.example', 'login', key, now_at, now_at + interval '10 minutes');
    insert into one_time_tokens (token_hash, purpose, account_id, created_at, expires_at)
    values (key, 'password_reset', account, now_at, now_at + interval '1 hour');
    insert into used_identity_tokens (token_hash, expires_at) values (key, now_at + interval '1 hour');
    insert into apple_claims (subject, account_id, created_at, expires_at) values (key, account, now_at, now_at + interval '1 hour');
    for n in 1 .. 3 loop
      insert into account_devices as d (account_id, device, network, last_seen_at)
      values (account, 'device ' || (case when n = 3 then hour else (hour * 2 + n) % 50 end), '192.0.2.0', now_at)
      on conflict (account_id, device, network) do update set last_seen_at = excluded.last_seen_at;
    end loop;
    insert into company_mornings (company_id, day, created_at) values (company, now_at::date, now_at) on conflict do nothing;
  end $$`;

-- Copies of a company, for tests that need many alike. The ids of a copy differ from those of its
-- base in their first eight digits, which are the mark of the copy.
CREATE TABLE bases (company uuid NOT NULL, place regclass NOT NULL);

CREATE FUNCTION note_base(base uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place regclass;
    has_rows boolean;
BEGIN
    FOR place IN SELECT a.attrelid::regclass FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.attname = 'company_id' AND c.relkind = 'r'
        AND c.relnamespace = 'public'::regnamespace
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE company_id = $1)', place)
            INTO has_rows USING base;
        IF has_rows THEN
            INSERT INTO bases VALUES (base, place);
        END IF;
    END LOOP;
END $$;

-- A row as JSON, with what must be unique made the copy's own.
CREATE FUNCTION remarked(line text, base uuid, prefix text, mark text) RETURNS json
LANGUAGE sql VOLATILE AS $$
    SELECT regexp_replace(regexp_replace(replace(replace(replace(line,
        left(base::text, 8) || '-', mark || '-'),
        '"' || prefix || '-', '"C' || mark || '-'),
        '"issue_prefix":"' || prefix || '"', '"issue_prefix":"C' || mark || '"'),
        '(_hash":"\\\\x)[0-9a-f]{8}', '\1' || mark),
        '"doc":[0-9]+', '"doc":' || CASE WHEN line LIKE '%"doc":%'
            THEN nextval(pg_get_serial_sequence('issue_texts', 'doc')) ELSE 0 END)::json
$$;

CREATE FUNCTION copy_company(base uuid, mark text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    prefix text;
    table_of regclass;
BEGIN
    -- The rows come in any order, so that references are not looked at.
    PERFORM set_config('session_replication_role', 'replica', true);
    SELECT issue_prefix INTO prefix FROM companies WHERE id = base;
    INSERT INTO companies SELECT copied.* FROM companies c
        CROSS JOIN LATERAL json_populate_record(NULL::companies,
            remarked(to_json(c)::text, base, prefix, mark)) AS copied
        WHERE c.id = base;
    FOR table_of IN SELECT place FROM bases WHERE company = base LOOP
        EXECUTE format('INSERT INTO %1$s SELECT copied.* FROM %1$s t
            CROSS JOIN LATERAL json_populate_record(NULL::%1$s,
                remarked(to_json(t)::text, $1, $2, $3)) AS copied
            WHERE t.company_id = $1', table_of) USING base, prefix, mark;
    END LOOP;
    UPDATE wakes SET not_before = created_at
    WHERE status = 'pending' AND company_id = (mark || substr(base::text, 9))::uuid;
END $$;

//! What is redacted in which surroundings, and what is left alone.

use serde_json::json;

use super::*;

fn redacted(text: &str) -> String {
    Redactor::new().text(text).into_string()
}

/// Every line is a text and what becomes of it.
#[track_caller]
fn all(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, wanted)| (text, wanted, redacted(text)))
        .filter(|(_, wanted, got)| got != *wanted)
        .map(|(text, wanted, got)| format!("\n  text   {text}\n  wanted {wanted}\n  got    {got}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.concat());
}

#[track_caller]
fn untouched(texts: &[&str]) {
    let cases: Vec<(&str, &str)> = texts.iter().map(|text| (*text, *text)).collect();
    all(&cases);
}

#[test]
fn secrets_on_a_command_line() {
    all(&[
        ("mysql -uroot -phunter2 db", "mysql -uroot -p[PASSWORD] db"),
        (
            "mysql -u root -p'hun ter2' db",
            "mysql -u root -p'[PASSWORD]' db",
        ),
        (
            "mysqldump --password=hunter2 db",
            "mysqldump --password=[PASSWORD] db",
        ),
        (
            "mysqldump --password hunter2 db",
            "mysqldump --password [PASSWORD] db",
        ),
        (
            "sshpass -p hunter2 ssh me@host",
            "sshpass -p [PASSWORD] ssh me@host",
        ),
        (
            "sshpass -phunter2 ssh host",
            "sshpass -p[PASSWORD] ssh host",
        ),
        (
            "curl -u admin:hunter2 https://x.io",
            "curl -u admin:[PASSWORD] https://x.io",
        ),
        (
            "curl --user=admin:hunter2 x",
            "curl --user=admin:[PASSWORD] x",
        ),
        ("curl -uadmin:hunter2 x", "curl -uadmin:[PASSWORD] x"),
        (
            r#"curl -H "Authorization: Bearer abc.def-123" x"#,
            r#"curl -H "Authorization: Bearer [TOKEN]" x"#,
        ),
        (
            "curl -H 'Authorization: Basic dXNlcjpwYXNz' x",
            "curl -H 'Authorization: Basic [TOKEN]' x",
        ),
        (
            "curl -H 'X-Api-Key: 0a1b2c3d4e5f' x",
            "curl -H 'X-Api-Key: [API_KEY]' x",
        ),
        (
            "PGPASSWORD=hunter2 psql -h db",
            "PGPASSWORD=[PASSWORD] psql -h db",
        ),
        ("export TOKEN=abcdef", "export TOKEN=[TOKEN]"),
        ("export API_TOKEN='abc def'", "export API_TOKEN='abc def'"),
        (
            "docker login -u me -p hunter2 reg.io",
            "docker login -u me -p [PASSWORD] reg.io",
        ),
        ("docker run -p 8080:80 img", "docker run -p 8080:80 img"),
        (
            "docker run -e DB_PASSWORD=hunter2 img",
            "docker run -e DB_PASSWORD=[PASSWORD] img",
        ),
        ("redis-cli -a hunter2 ping", "redis-cli -a [PASSWORD] ping"),
        (
            "openssl enc -pass pass:hunter2 -in x",
            "openssl enc -pass pass:[PASSWORD] -in x",
        ),
        (
            "openssl enc -pass env:PW -in x",
            "openssl enc -pass env:PW -in x",
        ),
        (
            "htpasswd -b file me hunter2",
            "htpasswd -b file me [PASSWORD]",
        ),
        (
            "smbclient //h/s -U me%hunter2",
            "smbclient //h/s -U me%[PASSWORD]",
        ),
        ("7z a -phunter2 x.7z y", "7z a -p[PASSWORD] x.7z y"),
        (
            "kubectl create secret generic s --from-literal=x=hunter2",
            "kubectl create secret generic s --from-literal=x=[PASSWORD]",
        ),
        (
            "gh auth login --with-token abc123def",
            "gh auth login --with-token [TOKEN]",
        ),
        (
            "aws configure set aws_secret_access_key hunter2x",
            "aws configure set aws_secret_access_key [PASSWORD]",
        ),
        (
            "a --api-key=0123456789abcdef -v",
            "a --api-key=[API_KEY] -v",
        ),
        (r#"mysql -p"hunter2" db"#, r#"mysql -p"[PASSWORD]" db"#),
        (
            r#"{"command":"mysql -phunter2","x":"y"}"#,
            r#"{"command":"mysql -p[PASSWORD]","x":"y"}"#,
        ),
    ]);
}

#[test]
fn a_secret_is_redacted_to_its_real_end() {
    all(&[
        (
            r"x --password 'A7kQ'\''z9Wb' y",
            "x --password '[PASSWORD]' y",
        ),
        (
            r#"x --password 'A7kQ'"z9Wb" y"#,
            r#"x --password '[PASSWORD]" y"#,
        ),
        (r"x --password A7kQ\ z9Wb y", "x --password [PASSWORD] y"),
        ("x --token \\\n  a1b2c3d4 y", "x --token \\\n  [TOKEN] y"),
        ("DB_PASSWORD=A7kQ#z9Wb x", "DB_PASSWORD=[PASSWORD] x"),
        ("DB_PASSWORD=A7kQ,z9Wb x", "DB_PASSWORD=[PASSWORD] x"),
        ("DB_PASSWORD='A7kQ\nz9Wb' x", "DB_PASSWORD='[PASSWORD]' x"),
        ("DB_PASSWORD=A7kQ;run", "DB_PASSWORD=[PASSWORD]"),
        ("DB_PASSWORD=A7kQ; run", "DB_PASSWORD=[PASSWORD]; run"),
        (
            "psql -c \"ALTER USER a PASSWORD 'A7kQ''z9Wb'\"",
            "psql -c \"ALTER USER a PASSWORD '[PASSWORD]'\"",
        ),
        (
            "CREATE USER a IDENTIFIED BY 'A7kQ''z9Wb';",
            "CREATE USER a IDENTIFIED BY '[PASSWORD]';",
        ),
        (
            "x 'Server=h;Password=A7kQ z9Wb;Database=d'",
            "x 'Server=h;Password=[PASSWORD];Database=d'",
        ),
        ("password: A7kQx2#z9Wb\nx: 1", "password: [PASSWORD]\nx: 1"),
        ("password = A7kQx2,z9Wb\n", "password = [PASSWORD]\n"),
        (
            "bash -c \"x --password 'A7kQz9'\" && echo \"ok\"",
            "bash -c \"x --password '[PASSWORD]'\" && echo \"ok\"",
        ),
        (
            "connect(password='A7kQz9', host='h')",
            "connect(password='[PASSWORD]', host='h')",
        ),
        (
            "mount -o username=a,password=A7kQz9,uid=1 x",
            "mount -o username=a,password=[PASSWORD],uid=1 x",
        ),
    ]);
    untouched(&["docker build --secret id=npm,src=.npmrc ."]);
}

#[test]
fn secrets_that_are_piped_or_set() {
    all(&[
        (
            "echo hunter2 | docker login -u me --password-stdin reg.io",
            "echo [PASSWORD] | docker login -u me --password-stdin reg.io",
        ),
        (
            "printf '%s' 'hunter2' | gh auth login --with-token",
            "printf '%s' '[PASSWORD]' | gh auth login --with-token",
        ),
        (
            "docker login --password-stdin <<< hunter2",
            "docker login --password-stdin <<< [PASSWORD]",
        ),
        (
            "echo -n hunter2 | sudo -S ls",
            "echo -n [PASSWORD] | sudo -S ls",
        ),
        (
            "echo 'bob:hunter2' | chpasswd",
            "echo 'bob:[PASSWORD]' | chpasswd",
        ),
        (
            "echo hunter2 | gh secret set FOO",
            "echo [PASSWORD] | gh secret set FOO",
        ),
        (
            "pass insert -e web/site <<< 'hunter2'",
            "pass insert -e web/site <<< '[PASSWORD]'",
        ),
        (
            "kubectl create secret generic x --from-file=k=- <<< hunter2",
            "kubectl create secret generic x --from-file=k=- <<< [PASSWORD]",
        ),
        (
            "docker secret create db - <<< hunter2",
            "docker secret create db - <<< [PASSWORD]",
        ),
        (
            "gcloud secrets versions add db --data-file=- <<< hunter2",
            "gcloud secrets versions add db --data-file=- <<< [PASSWORD]",
        ),
        (
            "vault kv put secret/app password=- <<< hunter2",
            "vault kv put secret/app password=- <<< [PASSWORD]",
        ),
        (
            "vault write auth/approle/login role_id=r1 secret_id=8f2a1c9e-33d1",
            "vault write auth/approle/login role_id=[PASSWORD] secret_id=[PASSWORD]",
        ),
        (
            "rclone config create remote s3 secret_access_key hunter2horse",
            "rclone config create remote s3 secret_access_key [PASSWORD]",
        ),
        (
            "mc alias set minio https://minio.example admin hunter2horse",
            "mc alias set minio https://minio.example admin [PASSWORD]",
        ),
        (
            "curl -b 'session=Zx81kQpLm42v; id=7' https://example.test/",
            "curl -b 'session=[PASSWORD]' https://example.test/",
        ),
        (
            "curl 'https://a.blob.core.windows.net/c?sv=1&sig=a8sd7F6asdf%2Fq3kJ&se=2'",
            "curl 'https://a.blob.core.windows.net/c?sv=1&sig=[TOKEN]&se=2'",
        ),
        (
            "gh secret set FOO --body hunter2",
            "gh secret set FOO --body [PASSWORD]",
        ),
        (
            "vault kv put secret/db foo=hunter2 bar='a b'",
            "vault kv put secret/db foo=[PASSWORD] bar='[PASSWORD]'",
        ),
        (
            "heroku config:set FOO=hunter2 -a app",
            "heroku config:set FOO=[PASSWORD] -a app",
        ),
        (
            "aws ssm put-parameter --type SecureString --value hunter2 --name n",
            "aws ssm put-parameter --type SecureString --value [PASSWORD] --name n",
        ),
    ]);
    untouched(&[
        "cat token | docker login --password-stdin",
        "echo $TOKEN | docker login --password-stdin",
        "echo done | tee log; gh secret set FOO",
        "gh secret list",
        "curl -b cookies.txt https://example.test/",
        "mc alias list",
        "kubectl create secret generic x --from-file=k=key.txt",
        "kill -s $sig 12",
        "gh pr create --body text",
        "vault kv put secret/db foo=@file",
        "vault kv get secret/db",
        "echo hello | sudo tee x",
    ]);
}

#[test]
fn manifests_of_secrets() {
    all(&[
        (
            "kind: Secret\ndata:\n  tls.key: Zq8kW3mX\nstringData:\n  a: \"b c\"\n  f: |\n    one\n    two\ntype: Opaque\n---\nkind: ConfigMap\ndata:\n  x: y",
            "kind: Secret\ndata:\n  tls.key: [PASSWORD]\nstringData:\n  a: \"[PASSWORD]\"\n  f: |\n    [PASSWORD]\n    [PASSWORD]\ntype: Opaque\n---\nkind: ConfigMap\ndata:\n  x: y",
        ),
        (
            "data:\n  a: Zq8kW3mX\nkind: Secret\nmetadata:\n  name: n",
            "data:\n  a: [PASSWORD]\nkind: Secret\nmetadata:\n  name: n",
        ),
        (
            "password: |\n  Zq8kW3mX\nx: 1",
            "password: |\n  [PASSWORD]\nx: 1",
        ),
        ("token: >-\n  Zq8kW3mX5vB1nT\n", "token: >-\n  [TOKEN]\n"),
    ]);
    untouched(&[
        "kind: SecretStore\ndata:\n  a: b",
        "kind: ConfigMap\ndata:\n  a: b",
    ]);
}

#[test]
fn names_in_the_environment() {
    all(&[
        ("FOO_KEY=Zq8kW3mX5vB1nT", "FOO_KEY=[API_KEY]"),
        ("export X_KEY='Zq8kW3mX5vB1nT'", "export X_KEY='[API_KEY]'"),
        ("GH_PAT=Zq8kW3mX5vB1nT x", "GH_PAT=[API_KEY] x"),
        ("PAT=Zq8kW3mX5vB1nT x", "PAT=[API_KEY] x"),
        ("SMTP_PW=hunter2 x", "SMTP_PW=[PASSWORD] x"),
        ("PW=hunter2 x", "PW=[PASSWORD] x"),
        ("SSHPASS=hunter2 x", "SSHPASS=[PASSWORD] x"),
        ("DBPASS=hunter2 x", "DBPASS=[PASSWORD] x"),
        ("HASH_SALT=Zq8kW3mX5vB1nT", "HASH_SALT=[API_KEY]"),
        ("SENTRY_AUTH=Zq8kW3mX5vB1nT", "SENTRY_AUTH=[API_KEY]"),
        ("STRIPE_SK=Zq8kW3mX5vB1nT", "STRIPE_SK=[API_KEY]"),
        ("senha=hunter2", "senha=[PASSWORD]"),
        (
            "password = \"\"\"Zq8kW3mX\"\"\"",
            "password = \"\"\"[PASSWORD]\"\"\"",
        ),
        ("userPassword:: Zq8kW3mX", "userPassword:: [PASSWORD]"),
        ("requirepass Zq8kW3mX\n", "requirepass [PASSWORD]\n"),
        (
            "#define PASSWORD \"Zq8kW3mX\"",
            "#define PASSWORD \"[PASSWORD]\"",
        ),
        (
            "npm config set //r.example/:_authToken Zq8kW3mX",
            "npm config set //r.example/:_authToken [TOKEN]",
        ),
        (
            "yarn config set npmAuthToken Zq8kW3mX",
            "yarn config set npmAuthToken [TOKEN]",
        ),
    ]);
    untouched(&[
        "SSH_KEY=/home/me/.ssh/id_ed25519 x",
        "S3_KEY=backups/2024/x.tar.gz x",
        "CACHE_KEY=Zq8kW3mX5vB1nT",
        "SORT_KEY=name x",
        "FOO_KEY=my-app-key x",
        "USE_AUTH=true",
        "const SHORT_PAT: &str = \"some/**/needle.txt\";",
        "_HEX_PAT = \"[0-9A-Fa-f]{1,4}\"",
        "let x = Password::new(a);",
        "#define PASSWORD_LENGTH 12",
        "PAT=*.rs ls",
        "npm config set registry https://r.example/",
        "git config set user.name me",
    ]);
}

#[test]
fn where_a_program_logs_in_is_no_address_of_a_person() {
    untouched(&[
        "ssh deploy@prod.acme.io",
        "ssh -i key deploy@prod.acme.io uptime",
        "scp x deploy@prod.acme.io:/tmp",
        "rsync -a x deploy@prod.acme.io:y",
        "git clone git@github.com:org/repo",
    ]);
    all(&[
        (
            "ssh deploy@prod.acme.io mail jane@example.com",
            "ssh deploy@prod.acme.io mail [EMAIL]",
        ),
        ("ssh h; mail jane@example.com", "ssh h; mail [EMAIL]"),
    ]);
}

#[test]
fn references_and_placeholders_stay() {
    untouched(&[
        "mysql -p$PASS db",
        "mysql -p db",
        "PGPASSWORD=$PW psql",
        "export TOKEN=${TOKEN}",
        "export TOKEN=$(cat token)",
        r#"curl -H "Authorization: Bearer $TOKEN" x"#,
        r#"curl -H "Authorization: Bearer ${TOKEN}" x"#,
        "curl -H 'Authorization: Bearer <token>' x",
        "curl -u $USER:$PASS x",
        "password: <your password>",
        "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx",
        "API_KEY=your_api_key_here",
        "password=changeme",
        "password = os.environ['PASSWORD']",
        "password: ${{ secrets.PASSWORD }}",
        "https://$USER:$PASS@host/",
        "https://user:${PASS}@host/",
        "use --password to set it, or --token TOKEN",
        "PWD=/home/me OLDPWD=/tmp ls",
    ]);
}

#[test]
fn secrets_in_files_of_settings() {
    all(&[
        (
            "DB_PASSWORD=hunter2\nDEBUG=1",
            "DB_PASSWORD=[PASSWORD]\nDEBUG=1",
        ),
        ("DB_PASSWORD=a&b;c,d\nX=1", "DB_PASSWORD=[PASSWORD]\nX=1"),
        ("SECRET_KEY=\"a b c d e f\"", "SECRET_KEY=\"a b c d e f\""),
        (
            r#"{"password": "hunter2"}"#,
            r#"{"password": "[PASSWORD]"}"#,
        ),
        (
            r#"{\"password\":\"hunter2\"}"#,
            r#"{\"password\":\"[PASSWORD]\"}"#,
        ),
        (
            r#"{\\\"api_key\\\":\\\"0123456789abcdef\\\"}"#,
            r#"{\\\"api_key\\\":\\\"[API_KEY]\\\"}"#,
        ),
        (
            "password: hunter2\nuser: me",
            "password: [PASSWORD]\nuser: me",
        ),
        (
            "  password: correct horse battery\n",
            "  password: [PASSWORD]\n",
        ),
        (
            "db:\n  password: 'hunter2'",
            "db:\n  password: '[PASSWORD]'",
        ),
        ("password = \"hunter2\"", "password = \"[PASSWORD]\""),
        ("password = hunter2", "password = [PASSWORD]"),
        (
            "<password>hunter2</password>",
            "<password>[PASSWORD]</password>",
        ),
        (
            "<add name=\"password\" value=\"hunter2\"/>",
            "<add name=\"password\" value=\"[PASSWORD]\"/>",
        ),
        (
            "- name: DB_PASSWORD\n  value: hunter2",
            "- name: DB_PASSWORD\n  value: [PASSWORD]",
        ),
        (
            "Server=db;User Id=sa;Password=S3cret!;Encrypt=yes",
            "Server=db;User Id=sa;Password=[PASSWORD];Encrypt=yes",
        ),
        (
            "jdbc:mysql://h/db?user=a&password=hunter2",
            "jdbc:mysql://h/db?user=a&password=[PASSWORD]",
        ),
        (
            "machine h login me password hunter2",
            "machine h login me password [PASSWORD]",
        ),
        (
            "CREATE USER me IDENTIFIED BY 'hunter2';",
            "CREATE USER me IDENTIFIED BY '[PASSWORD]';",
        ),
        (
            "ALTER USER me WITH PASSWORD 'hunter2';",
            "ALTER USER me WITH PASSWORD '[PASSWORD]';",
        ),
        (
            "//reg.example/:_authToken=abcdef123456",
            "//reg.example/:_authToken=[TOKEN]",
        ),
        (
            "https://x.io/?access_token=abc123&x=1",
            "https://x.io/?access_token=[TOKEN]&x=1",
        ),
        (
            "a%3Fpassword%3Dhunter2%26x%3D1",
            "a%3Fpassword%3D[PASSWORD]%26x%3D1",
        ),
        (
            "%7B%22password%22%3A%22hunter2%22%7D",
            "%7B%22password%22%3A%22[PASSWORD]%22%7D",
        ),
        (
            "const password: &str = \"hunter2\";",
            "const password: &str = \"[PASSWORD]\";",
        ),
        (
            "config[\"password\"] = \"hunter2\"",
            "config[\"password\"] = \"[PASSWORD]\"",
        ),
        ("'password' => 'hunter2',", "'password' => '[PASSWORD]',"),
        (
            "conn.password(\"hunter2\")",
            "conn.password(\"[PASSWORD]\")",
        ),
        ("Cookie: sid=abcdef0123456789; x=y", "Cookie: sid=[TOKEN]"),
        (
            "Set-Cookie: sid=abcdef0123456789; Path=/",
            "Set-Cookie: sid=[TOKEN]; Path=/",
        ),
    ]);
}

#[test]
fn passwords_in_addresses() {
    all(&[
        (
            "postgres://me:hunter2@db:5432/x",
            "postgres://me:[PASSWORD]@db:5432/x",
        ),
        (
            "https://user:pass@host.com/x",
            "https://user:[PASSWORD]@host.com/x",
        ),
        (
            "mongodb+srv://u:p%40ss@h.net/x",
            "mongodb+srv://u:[PASSWORD]@h.net/x",
        ),
        ("redis://:hunter2@h:6379/0", "redis://:[PASSWORD]@h:6379/0"),
        ("amqp://u:a/b#c@h/x", "amqp://u:[PASSWORD]@h/x"),
        (
            "https://0a1b2c3d4e5f60718293@sentry.example/1",
            "https://[TOKEN]@sentry.example/1",
        ),
    ]);
    untouched(&[
        "http://host:8080/a@b",
        "ssh://git@github.com/x",
        "git@github.com:a/b.git",
        "https://example.com/x?a=1#b",
    ]);
}

#[test]
fn private_keys() {
    let body = "MIIEowIBAAKCAQEA0Z3VS5JJcds3xfn\nGkHPq1k2ABCDEFGHIJKLMNOPQRSTUVW";
    let pem = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----");
    let escaped = pem.replace('\n', "\\n");
    let cut = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}");
    all(&[
        (&format!("a\n{pem}\nb"), "a\n[PRIVATE_KEY]\nb"),
        (
            &format!("{{\"k\":\"{escaped}\"}}"),
            "{\"k\":\"[PRIVATE_KEY]\"}",
        ),
        (&cut, "[PRIVATE_KEY]"),
        (
            &format!("PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n{body}\nPrivate-MAC: 0"),
            "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n[PRIVATE_KEY]\nPrivate-MAC: 0",
        ),
    ]);
    untouched(&[
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
        r#"if text.contains("-----BEGIN PRIVATE KEY-----") {"#,
    ]);
}

#[test]
fn personal_data() {
    all(&[
        ("mail jane.doe+x@example.co.uk now", "mail [EMAIL] now"),
        ("<jane@example.com>", "<[EMAIL]>"),
        (
            "call +1 415 555 2671 or +442079460958.",
            "call [PHONE] or [PHONE].",
        ),
        (
            "call (415) 555-2671 or 415-555-2671",
            "call [PHONE] or [PHONE]",
        ),
        ("phone: 0171 2345678", "phone: [PHONE]"),
        ("ssn 123-45-6789.", "ssn [SSN]."),
        ("card 4111 1111 1111 1111 ok", "card [CARD] ok"),
        ("card 4111111111111111", "card [CARD]"),
        ("amex 3782-822463-10005", "amex [CARD]"),
        ("{\"pan\":\"5555555555554444\"}", "{\"pan\":\"[CARD]\"}"),
    ]);
    untouched(&[
        "card 4111 1111 1111 1112",
        "id 94111111111111111",
        "0.4111111111111111",
        "ssn 000-12-3456 666-12-3456 900-12-3456 123-00-4567 123-45-0000",
        "2024-01-15T10:30:00+00:00",
        "1.2.3 10.20.30.40 v4.17.21",
        "123e4567-e89b-12d3-a456-426614174000",
        "1700000000000 1700000000",
        "+12345",
        "icon@2x.png getty@tty1.service lodash@4.17.21 a@b",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "192.168.1.10",
        "echo 123-456-7890",
    ]);
}

#[test]
fn ip_addresses_if_asked_for() {
    let redactor = Redactor::new().redacting(Marker::Ip);
    let text = "from 192.168.1.10 to 2001:db8::1, not 127.0.0.1, ::1, 1.2.3 or a::b::c";
    let wanted = "from [IP] to [IP], not 127.0.0.1, ::1, 1.2.3 or a::b::c";
    assert_eq!(redactor.text(text).as_str(), wanted);
}

#[test]
fn code_is_left_alone() {
    untouched(&[
        "let token = self.next_token()?;",
        "password: String,",
        "pub struct Auth { pub token: Token, secret: Vec<u8> }",
        "def login(user: str, password: str) -> None:",
        "token = tokenizer.next()",
        "self.password = password",
        "connect(password=password, token=token)",
        "if password == expected {",
        "passwordField.placeholder = \"Enter your password\"",
        "\"password\": \"Password\"",
        "\"token\": \"identifier\"",
        "const TOKEN_KIND: &str = \"token\";",
        "key = \"some.config.key\"",
        "secret_name: my-app-secret",
        "max_tokens: 4096",
        "token: 12",
        "api_key: Optional[str] = None",
        "Authorization: the header must be set",
        "return Bearer token authentication",
        "the password: it must be long",
        "type=\"password\" name=\"password\"",
        "for (key, token) in tokens {",
        "password_hash = hash(password)",
        "auth = (user, password)",
    ]);
}

#[test]
fn json_by_its_keys() {
    let (redacted, kinds) = Redactor::new().json(&json!({
        "password": "x",
        "pin": 1234,
        "api_key": "abc",
        "Authorization": "Bearer abc",
        "env": {"AWS_SECRET_ACCESS_KEY": "abc", "PATH": "/bin", "TOKEN": "$TOKEN"},
        "args": ["mysql", "-phunter2", "--password", "hunter2"],
        "headers": [["X-Api-Key", "abc"]],
        "list": [{"name": "DB_PASSWORD", "value": "x"}],
        "content": "{\"password\":\"x1y2z3\"}",
        "jane@example.com": "a",
        "joe@example.com": "b",
        "max_tokens": 100,
        "card": 4_111_111_111_111_111u64,
        "ok": true,
    }));
    assert_eq!(
        redacted.as_value(),
        &json!({
            "password": "[PASSWORD]",
            "pin": "[PASSWORD]",
            "api_key": "[API_KEY]",
            "Authorization": "Bearer [TOKEN]",
            "env": {"AWS_SECRET_ACCESS_KEY": "[API_KEY]", "PATH": "/bin", "TOKEN": "$TOKEN"},
            "args": ["mysql", "-p[PASSWORD]", "--password", "[PASSWORD]"],
            "headers": [["X-Api-Key", "[API_KEY]"]],
            "list": [{"name": "DB_PASSWORD", "value": "[PASSWORD]"}],
            "content": "{\"password\":\"[PASSWORD]\"}",
            "[EMAIL]": "a",
            "[EMAIL] (2)": "b",
            "max_tokens": 100,
            "card": "[CARD]",
            "ok": true,
        })
    );
    assert_eq!(kinds.count(Marker::Password), 6);
    let counts = serde_json::to_value(kinds).unwrap();
    assert_eq!(
        counts,
        json!({"email": 2, "api_key": 3, "password": 6, "token": 1, "card": 1})
    );
}

#[test]
fn a_program_is_known_beside_its_arguments() {
    let (redacted, _) =
        Redactor::new().json(&json!({"command": "mysql", "args": ["-u", "root", "-phunter2"]}));
    assert_eq!(
        redacted.to_string(),
        r#"{"args":["-u","root","-p[PASSWORD]"],"command":"mysql"}"#
    );
}

#[test]
fn a_long_secret_is_redacted_to_its_end() {
    for long in [
        "a1".repeat(3000),
        "é1".repeat(3000),
        format!("a{}", "é".repeat(3000)),
    ] {
        assert_eq!(
            redacted(&format!("API_TOKEN={long} x")),
            "API_TOKEN=[TOKEN] x"
        );
        let quoted = redacted(&format!("DB_PASSWORD='{long}' x"));
        assert_eq!(quoted, "DB_PASSWORD='[PASSWORD]' x");
    }
}

#[test]
fn a_secret_found_once_is_redacted_wherever_else_it_stands() {
    assert_eq!(
        redacted("echo hunter2hunter2 | app --password hunter2hunter2"),
        "echo [PASSWORD] | app --password [PASSWORD]"
    );
}

#[test]
fn deep_values_end() {
    let mut value = json!("hunter2");
    for _ in 0..300 {
        value = json!([value]);
    }
    let (redacted, _) = Redactor::new().json(&value);
    assert!(redacted.to_string().contains("nested too deep"));
}

#[test]
fn equal_secrets_have_equal_tags() {
    let redactor = Redactor::new().salted([7; 32]);
    let (one, other) = (
        redactor.text("TOKEN=abcdef TOKEN=abcdef"),
        redactor.text("TOKEN=abcdeg"),
    );
    let tags: Vec<&str> = one.as_str().split(' ').collect();
    assert_eq!(tags[0], tags[1]);
    assert_ne!(tags[0], other.as_str());
    assert!(tags[0].starts_with("TOKEN=[TOKEN:") && tags[0].len() == 22);
    assert_eq!(redactor.text(one.as_str()), one);
}

#[test]
fn kinds_can_be_kept_and_formats_added() {
    let own = OwnFormat::new("acme.key", Marker::ApiKey, "acme_", r"acme_\l{12,}").unwrap();
    let redactor = Redactor::new().keeping(Marker::Email).with_formats([own]);
    let text = "jane@example.com acme_0123456789ab";
    assert_eq!(redactor.text(text).as_str(), "jane@example.com [API_KEY]");
    let found = redactor.find(text);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].format.as_ref(), found[0].span.clone()),
        ("acme.key", 17..34)
    );
}

#[test]
fn guesses_are_found_and_never_redacted() {
    let text = "x = hG7kQ2mZ9pL4vR8tY1wB6nC3";
    assert_eq!(redacted(text), text);
    let found = Redactor::new().find(text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].certainty, Certainty::Guess);
    for text in [
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "123e4567-e89b-12d3-a456-426614174000",
        "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
        "some_function_name_with_words",
        "/usr/lib/python3/dist-packages/Foo",
    ] {
        assert!(Redactor::new().find(text).is_empty(), "{text}");
    }
}

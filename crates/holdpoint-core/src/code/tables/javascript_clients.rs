//! JavaScript's packages for databases, clouds, containers, other machines and the shell.

use super::CallEffect::*;
use super::{Depth, FIRST, Parameter, Row, SECOND};
use crate::code::constants as c;

const NOTHING: Parameter = Parameter(9, "");

pub(super) static ROWS: &[Row] = &[
    Row {
        names: "pg.Client pg.Pool pg.default.Client pg.default.Pool postgres knex sequelize sequelize.Sequelize \
                typeorm.DataSource @prisma/client.PrismaClient @vercel/postgres.createClient better-sqlite3 \
                sqlite3.Database sqlite.Database bun:sqlite.Database",
        acts: &[Make("Sql", NOTHING)],
    },
    Row {
        names: "mysql.createConnection mysql.createPool mysql2.createConnection mysql2.createPool \
                mysql2/promise.createConnection mysql2/promise.createPool",
        acts: &[Make("Mysql", NOTHING)],
    },
    Row {
        names: "Sql#query Sql#raw Sql#exec Sql#execute Sql#run Sql#unsafe Sql#prepare Sql#$executeRawUnsafe \
                Sql#$executeRaw Sql#$queryRawUnsafe Sql#()",
        acts: &[QueryIfPlain("psql -c {1}")],
    },
    Row {
        names: "Mysql#query Mysql#execute",
        acts: &[QueryIfPlain("mysql -e {1}")],
    },
    Row {
        names: "Sql#sync",
        acts: &[As("psql {sync}")],
    },
    Row {
        names: "Sql#drop",
        acts: &[As("psql -c DROP·TABLE·t")],
    },
    Row {
        names: "redis.createClient ioredis ioredis.Redis ioredis.default",
        acts: &[Make("Redis", NOTHING)],
    },
    Row {
        names: "Redis#sendCommand Redis#call",
        acts: &[As("redis-cli {1*}")],
    },
    Row {
        names: "aws-sdk.*",
        acts: &[MakeNamed("Aws")],
    },
    Row {
        names: "Aws#upload Aws#promise Aws#makeUnauthenticatedRequest Aws#config.update Aws#update",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "Aws#*",
        acts: &[As("aws {service} {method-} {flags}")],
    },
    Row {
        names: "@aws-sdk.*",
        acts: &[As("aws {sdk}")],
    },
    Row {
        names: "simple-git simple-git.simpleGit simple-git.default",
        acts: &[Make("Git", FIRST)],
    },
    Row {
        names: "Git#raw",
        acts: &[As("git {1*}")],
    },
    Row {
        names: "Git#push Git#reset Git#clean Git#checkout Git#branch Git#deleteLocalBranch Git#rebase Git#stash",
        acts: &[As("git {method-} {1*}")],
    },
    Row {
        names: "dockerode",
        acts: &[Make("Docker", NOTHING)],
    },
    Row {
        names: "Docker#pruneContainers",
        acts: &[As("docker container prune -f")],
    },
    Row {
        names: "Docker#pruneVolumes",
        acts: &[As("docker volume prune -f")],
    },
    Row {
        names: "Docker#pruneImages",
        acts: &[As("docker image prune -f")],
    },
    Row {
        names: "Docker#getContainer Docker#getVolume",
        acts: &[Make("Container", NOTHING)],
    },
    Row {
        names: "Container#remove",
        acts: &[As("docker rm {flags} c")],
    },
    // The shell's programs by name.
    Row {
        names: "shelljs.rm shelljs.cp shelljs.mv shelljs.cat shelljs.chmod shelljs.ln shelljs.mkdir shelljs.touch \
                shelljs.sed shelljs.grep shelljs.head shelljs.tail",
        acts: &[As("{way} {0*}")],
    },
    Row {
        names: "shelljs.cd",
        acts: &[ChangeDirectory(FIRST)],
    },
    Row {
        names: "execa.execaCommand execa.execaCommandSync execa.$ execa.$.sync execa.execaSync execa.execaNode \
                zx.$.sync tinyexec.x tinyexec.exec nano-spawn.default promisify-child-process.exec npm-run-script",
        acts: &[StartLine],
    },
    Row {
        names: "cross-spawn.sync cross-spawn.spawn Bun.spawnSync execa.sync node-pty.spawn nano-spawn \
                foreground-child.foregroundChild",
        acts: &[StartList(FIRST, SECOND)],
    },
    Row {
        names: "process.kill",
        acts: &[Kill(FIRST, SECOND)],
    },
    Row {
        names: "process.chdir Deno.chdir",
        acts: &[ChangeDirectory(FIRST)],
    },
    Row {
        names: "Deno.kill",
        acts: &[Kill(FIRST, SECOND)],
    },
    Row {
        names: "rimraf.rimrafSync rimraf.native rimraf.manual trash del.sync del.deleteSync",
        acts: &[Delete(FIRST, Depth::Tree)],
    },
    // Requests that are written to.
    Row {
        names: "http.request https.request net.connect net.createConnection tls.connect WebSocket ws ws.WebSocket",
        acts: &[Connect(FIRST), Make("Connection", FIRST)],
    },
    Row {
        names: "Request",
        acts: &[ConnectIfAddress(FIRST)],
    },
    Row {
        names: "dns.lookup dns.resolve dns.promises.lookup dns/promises.lookup",
        acts: &[Send(FIRST)],
    },
    Row {
        names: "ssh2.Client",
        acts: &[Make("Host", NOTHING)],
    },
    Row {
        names: "Host#exec",
        acts: &[As("ssh a.host {1}")],
    },
    Row {
        names: "XMLHttpRequest dgram.createSocket nodemailer.createTransport",
        acts: &[Make("Connection", NOTHING)],
    },
    Row {
        names: "Connection#open",
        acts: &[Connect(Parameter(2, ""))],
    },
    Row {
        names: "Connection#write Connection#end Connection#send Connection#sendMail",
        acts: &[Send(NOTHING)],
    },
    Row {
        names: "navigator.sendBeacon got.put got.patch got.delete ky.post ky.get ky needle.post superagent.post \
                axios.head request.post request node-fetch.default undici.request bent",
        acts: &[Connect(FIRST)],
    },
    // What only writes a value down differently, and what shows it.
    Row {
        names: "JSON.stringify btoa encodeURIComponent encodeURI Object.entries Object.values Object.assign \
                querystring.stringify URLSearchParams util.inspect structuredClone JSON.parse Blob Array.from \
                FormData Buffer.concat zlib.gzip",
        acts: &[Keep],
    },
    Row {
        names: "console.log console.error console.info console.warn console.dir console.table console.debug \
                process.stdout.write process.stderr.write",
        acts: &[Print(0)],
    },
    Row {
        names: "Boolean",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "Deno.env.get",
        acts: &[Pure(c::variable)],
    },
    Row {
        names: "Deno.env.toObject",
        acts: &[Pure(environment)],
    },
    Row {
        names: "os.homedir",
        acts: &[Pure(c::home)],
    },
    Row {
        names: "glob.glob glob.globSync fast-glob.sync fast-glob globby globby.sync",
        acts: &[Pure(c::found)],
    },
    Row {
        names: "fs.readdir",
        acts: &[Read(FIRST), Pure(c::names)],
    },
];

fn environment(_: &[crate::code::values::Value]) -> crate::code::values::Value {
    crate::code::values::Value::Name("ENV".to_owned())
}

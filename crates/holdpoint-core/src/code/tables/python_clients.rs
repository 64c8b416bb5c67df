//! Python's libraries for databases, clouds, containers, clusters and other machines.

use super::CallEffect::*;
use super::{FIRST, Parameter, Row, SECOND};
use crate::code::constants as c;

const NOTHING: Parameter = Parameter(9, "");

pub(super) static ROWS: &[Row] = &[
    // Databases. What a connection gives runs statements as well.
    Row {
        names: "psycopg2.connect psycopg.connect asyncpg.connect asyncpg.create_pool pg8000.connect \
                psycopg.AsyncConnection.connect psycopg_pool.ConnectionPool sqlalchemy.create_engine \
                sqlalchemy.ext.asyncio.create_async_engine sqlmodel.create_engine databases.Database \
                records.Database duckdb.connect snowflake.connector.connect redshift_connector.connect \
                cx_Oracle.connect oracledb.connect pyodbc.connect clickhouse_driver.Client \
                sqlalchemy.orm.sessionmaker sqlalchemy.orm.Session sqlalchemy.MetaData",
        acts: &[Make("Sql", NOTHING)],
    },
    Row {
        names: "sqlite3.connect aiosqlite.connect apsw.Connection",
        acts: &[Make("Sqlite", FIRST)],
    },
    Row {
        names: "pymysql.connect MySQLdb.connect mysql.connector.connect aiomysql.connect mariadb.connect",
        acts: &[Make("Mysql", NOTHING)],
    },
    Row {
        names: "Sql#cursor Sql#connect Sql#begin Sql#connection Sql#acquire Sql#transaction Sql#raw_connection \
                Sql#getconn Sql#session Sql#()",
        acts: &[Make("Sql", NOTHING)],
    },
    Row {
        names: "Sqlite#cursor",
        acts: &[Make("Sqlite", FIRST)],
    },
    Row {
        names: "Mysql#cursor",
        acts: &[Make("Mysql", NOTHING)],
    },
    Row {
        names: "Sql#execute Sql#executemany Sql#exec_driver_sql Sql#query Sql#fetch Sql#fetchval Sql#fetchrow \
                Sql#sql Sql#run",
        acts: &[Query("psql -c {1}")],
    },
    Row {
        names: "Sqlite#execute Sqlite#executemany Sqlite#executescript",
        acts: &[Query("sqlite3 a.db {1}")],
    },
    Row {
        names: "Mysql#execute Mysql#executemany Mysql#query",
        acts: &[Query("mysql -e {1}")],
    },
    Row {
        names: "Rows#delete",
        acts: &[As("psql -c DELETE·FROM·t")],
    },
    Row {
        names: "sqlalchemy.text sqlalchemy.sql.text psycopg2.sql.SQL psycopg.sql.SQL",
        acts: &[Pure(c::first)],
    },
    Row {
        names: "pandas.read_sql pandas.read_sql_query",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "redis.Redis redis.StrictRedis redis.from_url redis.Redis.from_url redis.asyncio.Redis \
                redis.asyncio.from_url redis.cluster.RedisCluster redis.RedisCluster valkey.Valkey aioredis.from_url",
        acts: &[Make("Redis", NOTHING)],
    },
    Row {
        names: "Redis#execute_command",
        acts: &[As("redis-cli {1*}")],
    },
    Row {
        names: "Redis#pipeline",
        acts: &[Make("Redis", NOTHING)],
    },
    Row {
        names: "Redis#flushall Redis#flushdb Redis#delete Redis#unlink Redis#config_set Redis#shutdown Redis#eval \
                Redis#script_flush Redis#swapdb",
        acts: &[As("redis-cli {method} {1*}")],
    },
    Row {
        names: "pymongo.MongoClient motor.motor_asyncio.AsyncIOMotorClient pymongo.AsyncMongoClient",
        acts: &[Make("Mongo", NOTHING)],
    },
    Row {
        names: "Mongo#get_database Mongo#get_collection Mongo#get_default_database",
        acts: &[Make("Mongo", NOTHING)],
    },
    Row {
        names: "Mongo#drop",
        acts: &[As("mongosh --eval db.c.drop()")],
    },
    Row {
        names: "Mongo#remove",
        acts: &[As("mongosh --eval db.c.deleteMany({filter})")],
    },
    Row {
        names: "elasticsearch.Elasticsearch opensearchpy.OpenSearch",
        acts: &[Make("Elastic", NOTHING)],
    },
    Row {
        names: "Elastic#indices.delete",
        acts: &[As("curl -X DELETE http://search:9200/{index}")],
    },
    Row {
        names: "Elastic#delete_by_query",
        acts: &[As("curl -X DELETE http://search:9200/{index}")],
    },
    // Clouds.
    Row {
        names: "boto3.client aioboto3.client",
        acts: &[Make("Aws", Parameter(0, "service_name"))],
    },
    Row {
        names: "boto3.Session boto3.session.Session aioboto3.Session",
        acts: &[Make("AwsSession", NOTHING)],
    },
    Row {
        names: "AwsSession#client",
        acts: &[Make("Aws", Parameter(1, "service_name"))],
    },
    Row {
        names: "boto3.resource",
        acts: &[Make("AwsResource", Parameter(0, "service_name"))],
    },
    Row {
        names: "AwsSession#resource",
        acts: &[Make("AwsResource", Parameter(1, "service_name"))],
    },
    Row {
        names: "Aws#get_paginator Aws#get_waiter Aws#can_paginate Aws#close Aws#generate_presigned_url \
                Aws#generate_presigned_post Aws#meta.* Aws#exceptions.*",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "Aws#upload_file Aws#upload_fileobj",
        acts: &[As("aws s3 cp {1} s3://{2}/x"), Send(NOTHING)],
    },
    Row {
        names: "Aws#download_file",
        acts: &[Write(Parameter(3, "Filename"))],
    },
    Row {
        names: "Aws#*",
        acts: &[As("aws {service} {method-} {flags}")],
    },
    Row {
        names: "AwsResource#Bucket",
        acts: &[Make("Bucket", SECOND)],
    },
    Row {
        names: "Bucket#objects.all Bucket#objects.filter Bucket#object_versions.all Bucket#object_versions.filter",
        acts: &[Make("BucketObjects", FIRST)],
    },
    Row {
        names: "BucketObjects#delete Bucket#objects.delete Bucket#object_versions.delete",
        acts: &[As("aws s3 rm s3://{of} --recursive")],
    },
    Row {
        names: "Bucket#delete",
        acts: &[As("aws s3api delete-bucket --bucket {of}")],
    },
    Row {
        names: "Bucket#upload_file",
        acts: &[As("aws s3 cp {1} s3://{of}/x")],
    },
    Row {
        names: "AwsResource#Table",
        acts: &[Make("AwsTable", SECOND)],
    },
    Row {
        names: "AwsTable#delete",
        acts: &[As("aws dynamodb delete-table --table-name {of}")],
    },
    Row {
        names: "AwsResource#Instance AwsResource#instances.all AwsResource#instances.filter",
        acts: &[Make("Instance", SECOND)],
    },
    Row {
        names: "Instance#terminate",
        acts: &[As("aws ec2 terminate-instances --instance-ids {of}")],
    },
    Row {
        names: "google.cloud.storage.Client",
        acts: &[Make("Gcs", NOTHING)],
    },
    Row {
        names: "Gcs#bucket Gcs#get_bucket Gcs#list_buckets",
        acts: &[Make("GcsBucket", SECOND)],
    },
    Row {
        names: "GcsBucket#blob GcsBucket#list_blobs GcsBucket#get_blob",
        acts: &[Make("GcsBucket", FIRST)],
    },
    Row {
        names: "GcsBucket#delete GcsBucket#delete_blobs GcsBucket#delete_blob",
        acts: &[As("gsutil rm -r gs://{of}/**")],
    },
    Row {
        names: "google.cloud.bigquery.Client",
        acts: &[Make("BigQuery", NOTHING)],
    },
    Row {
        names: "BigQuery#delete_dataset",
        acts: &[As("bq rm -r -f {1}")],
    },
    Row {
        names: "BigQuery#delete_table",
        acts: &[As("bq rm -f -t {1}")],
    },
    Row {
        names: "BigQuery#query BigQuery#query_and_wait",
        acts: &[QueryIfPlain("psql -c {1}")],
    },
    Row {
        names: "keyring.get_password keyring.get_credential",
        acts: &[As("secret-tool lookup service {0}")],
    },
    // Containers and clusters.
    Row {
        names: "docker.from_env docker.DockerClient docker.APIClient docker.client.from_env podman.PodmanClient",
        acts: &[Make("Docker", NOTHING)],
    },
    Row {
        names: "Docker#containers.run Docker#containers.create",
        acts: &[As("docker run {volumes} {flags} {1} {2.}")],
    },
    Row {
        names: "Docker#containers.prune",
        acts: &[As("docker container prune -f")],
    },
    Row {
        names: "Docker#volumes.prune",
        acts: &[As("docker volume prune -f")],
    },
    Row {
        names: "Docker#images.prune",
        acts: &[As("docker image prune -f")],
    },
    Row {
        names: "Docker#networks.prune",
        acts: &[As("docker network prune -f")],
    },
    Row {
        names: "Docker#images.remove Docker#remove_image",
        acts: &[As("docker rmi {flags} {1}")],
    },
    Row {
        names: "Docker#containers.get Docker#containers.list",
        acts: &[Make("Container", NOTHING)],
    },
    Row {
        names: "Container#remove",
        acts: &[As("docker rm {flags} c")],
    },
    Row {
        names: "Container#kill",
        acts: &[As("docker kill c")],
    },
    Row {
        names: "Container#exec_run",
        acts: &[As("docker exec c {1.}")],
    },
    Row {
        names: "Docker#volumes.get Docker#volumes.list",
        acts: &[Make("Volume", NOTHING)],
    },
    Row {
        names: "Volume#remove",
        acts: &[As("docker volume rm {flags} v")],
    },
    Row {
        names: "kubernetes.*",
        acts: &[Make("Kubernetes", NOTHING)],
    },
    Row {
        names: "Kubernetes#*",
        acts: &[Kubernetes],
    },
    // Version control.
    Row {
        names: "git.Repo git.Repo.init git.repo.Repo",
        acts: &[Make("Repository", FIRST)],
    },
    Row {
        names: "git.Git git.cmd.Git",
        acts: &[Make("Git", FIRST)],
    },
    Row {
        names: "Repository#git.execute Git#execute",
        acts: &[Run(1)],
    },
    Row {
        names: "Repository#git.* Git#*",
        acts: &[As("git {method-} {flags} {1*}")],
    },
    Row {
        names: "Repository#head.reset",
        acts: &[As("git reset --hard {1}")],
    },
    Row {
        names: "Repository#push",
        acts: &[As("git push {flags} {1*}")],
    },
    Row {
        names: "Repository#remote",
        acts: &[Make("Repository", FIRST)],
    },
    Row {
        names: "Repository#delete_head",
        acts: &[As("git branch -D {1}")],
    },
    // Programs by name.
    Row {
        names: "sh.*",
        acts: &[As("{way} {0*} {flags}")],
    },
    Row {
        names: "sh.Command",
        acts: &[Make("Program", FIRST)],
    },
    Row {
        names: "Program#()",
        acts: &[As("{of} {1*}")],
    },
    Row {
        names: "Program#bake",
        acts: &[As("{of} {1*}")],
    },
    Row {
        names: "plumbum.*",
        acts: &[As("{way} {0*}")],
    },
    Row {
        names: "plumbum.local.cwd plumbum.local.env plumbum.local.path plumbum.local.which plumbum.FG plumbum.BG",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "invoke.run fabric.api.run fabric.api.local fabric.api.sudo fabric.operations.run \
                IPython.get_ipython.system",
        acts: &[Shell(FIRST)],
    },
    // Other machines.
    Row {
        names: "fabric.Connection asyncssh.connect invoke.Context",
        acts: &[Make("Host", FIRST)],
    },
    Row {
        names: "Host#run Host#sudo Host#local",
        acts: &[As("ssh a.host {1}")],
    },
    Row {
        names: "Host#put",
        acts: &[As("scp {1} a.host:x")],
    },
    Row {
        names: "paramiko.SSHClient paramiko.client.SSHClient",
        acts: &[Make("Ssh", NOTHING)],
    },
    Row {
        names: "Ssh#connect",
        acts: &[Connect(Parameter(1, "hostname"))],
    },
    Row {
        names: "Ssh#open_sftp paramiko.SFTPClient.from_transport",
        acts: &[Make("Sftp", NOTHING)],
    },
    Row {
        names: "Sftp#put",
        acts: &[As("scp {1} a.host:x")],
    },
    Row {
        names: "Sftp#remove Sftp#rmdir Sftp#unlink",
        acts: &[As("ssh a.host rm {1}")],
    },
    // Connections that are written to.
    Row {
        names: "http.client.HTTPConnection http.client.HTTPSConnection",
        acts: &[Connect(Parameter(0, "host")), Make("Connection", FIRST)],
    },
    Row {
        names: "socket.create_connection smtplib.SMTP smtplib.SMTP_SSL ftplib.FTP ftplib.FTP_TLS telnetlib.Telnet \
                websocket.create_connection websockets.sync.client.connect",
        acts: &[Connect(Parameter(0, "host")), Make("Connection", FIRST)],
    },
    Row {
        names: "Connection#request Connection#send Connection#sendall Connection#sendmail Connection#send_message \
                Connection#storbinary Connection#storlines Connection#write Connection#sendfile Connection#putrequest",
        acts: &[Send(FIRST)],
    },
    Row {
        names: "Session#send Session#sendall Session#sendfile Session#write",
        acts: &[Send(NOTHING)],
    },
    Row {
        names: "urllib3.PoolManager urllib3.HTTPSConnectionPool requests.sessions.Session",
        acts: &[Make("Session", NOTHING)],
    },
    Row {
        names: "urllib3.request",
        acts: &[Connect(Parameter(1, "url"))],
    },
    Row {
        names: "xmlrpc.client.ServerProxy",
        acts: &[Connect(FIRST), Make("Proxy", FIRST)],
    },
    Row {
        names: "Proxy#*",
        acts: &[Send(FIRST)],
    },
    Row {
        names: "pwd.getpwuid pwd.getpwnam",
        acts: &[Make("Account", NOTHING)],
    },
    Row {
        names: "shutil.make_archive",
        acts: &[Write(FIRST), Read(Parameter(2, "root_dir"))],
    },
    Row {
        names: "Tar#add Zip#write",
        acts: &[Read(SECOND)],
    },
    Row {
        names: "delegator.run delegator.chain sarge.run sarge.capture_stdout plumbum.cmd.sh",
        acts: &[Shell(FIRST)],
    },
    Row {
        names: "Mongo#command",
        acts: &[As("mongosh --eval db.{1}()")],
    },
    Row {
        names: "cProfile.run cProfile.runctx profile.run profile.runctx pdb.run pdb.runeval",
        acts: &[EvalText(FIRST)],
    },
    Row {
        names: "trace.Trace bdb.Bdb pdb.Pdb cProfile.Profile code.InteractiveInterpreter code.InteractiveConsole",
        acts: &[Make("Tracer", NOTHING)],
    },
    Row {
        names: "Tracer#run Tracer#runctx Tracer#runsource Tracer#runcode Tracer#push Tracer#runeval",
        acts: &[EvalText(SECOND)],
    },
    // Processes.
    Row {
        names: "os.kill",
        acts: &[Kill(Parameter(0, "pid"), Parameter(1, "sig"))],
    },
    Row {
        names: "psutil.process_iter",
        acts: &[Make("Processes", NOTHING)],
    },
    Row {
        names: "Processes#kill Processes#terminate",
        acts: &[As("kill -9 -1")],
    },
    // Archives.
    Row {
        names: "zipfile.ZipFile",
        acts: &[
            Open(Parameter(0, "file"), Parameter(1, "mode")),
            Make("Zip", FIRST),
        ],
    },
    Row {
        names: "tarfile.open tarfile.TarFile.open",
        acts: &[
            Open(Parameter(0, "name"), Parameter(1, "mode")),
            Make("Tar", FIRST),
        ],
    },
    Row {
        names: "Zip#extractall",
        acts: &[As("unzip -o a.zip -d {1}")],
    },
    Row {
        names: "Tar#extractall",
        acts: &[As("tar xf a.tar -C {1}")],
    },
    // Files that other libraries read.
    Row {
        names: "linecache.getlines linecache.getline fileinput.input pandas.read_csv pandas.read_table \
                pandas.read_json pandas.read_fwf numpy.loadtxt numpy.genfromtxt numpy.fromfile dotenv.dotenv_values \
                os.scandir tomllib.load",
        acts: &[Read(FIRST)],
    },
    Row {
        names: "configparser.ConfigParser configparser.RawConfigParser",
        acts: &[Make("Config", NOTHING)],
    },
    Row {
        names: "Config#read",
        acts: &[Read(SECOND)],
    },
    Row {
        names: "distutils.dir_util.remove_tree setuptools._distutils.dir_util.remove_tree",
        acts: &[Delete(FIRST, super::Depth::Tree)],
    },
    // What only writes a value down differently.
    Row {
        names: "json.dumps repr dict urllib.parse.urlencode urllib.parse.quote urllib.parse.quote_plus \
                base64.b64encode base64.urlsafe_b64encode base64.standard_b64encode binascii.hexlify pprint.pformat \
                pickle.dumps sorted zlib.compress gzip.compress io.BytesIO io.StringIO yaml.dump marshal.dumps",
        acts: &[Keep],
    },
    Row {
        names: "json.load json.loads yaml.safe_load",
        acts: &[Keep],
    },
    Row {
        names: "print pprint.pprint sys.stdout.write sys.stderr.write rich.print logging.info logging.warning \
                logging.error logging.debug",
        acts: &[Print(0)],
    },
    Row {
        names: "os.getenv os.environ.get os.environ.pop os.environ.setdefault os.getenvb",
        acts: &[Pure(c::variable)],
    },
    Row {
        names: "os.environ.copy os.environ.items os.environ.values os.environ.__repr__",
        acts: &[Pure(environment)],
    },
    Row {
        names: "os.environ.keys bool any all int float",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "os.putenv os.environ.__setitem__",
        acts: &[SetVariable(FIRST, SECOND)],
    },
    Row {
        names: "os.chdir",
        acts: &[ChangeDirectory(Parameter(0, "path"))],
    },
    Row {
        names: "pathlib.Path.home",
        acts: &[Pure(home_path)],
    },
    // Clients of services, each by the command that does the same.
    Row {
        names: "kafka.KafkaAdminClient kafka.admin.KafkaAdminClient confluent_kafka.admin.AdminClient",
        acts: &[Make("Kafka", NOTHING)],
    },
    Row {
        names: "Kafka#delete_topics",
        acts: &[As("kafka-topics --delete --topic {1}")],
    },
    Row {
        names: "azure.storage.blob.BlobServiceClient azure.storage.blob.BlobServiceClient.from_connection_string",
        acts: &[Make("Blobs", NOTHING)],
    },
    Row {
        names: "Blobs#delete_container",
        acts: &[As("az storage container delete --name {1}")],
    },
    Row {
        names: "github.Github",
        acts: &[Make("Github", NOTHING)],
    },
    Row {
        names: "Github#get_repo",
        acts: &[Make("GithubRepo", SECOND)],
    },
    Row {
        names: "GithubRepo#delete",
        acts: &[As("gh repo delete {of} --yes")],
    },
    Row {
        names: "os.killpg",
        acts: &[As("kill -9 -1")],
    },
    Row {
        names: "glob.glob glob.iglob",
        acts: &[Pure(c::found)],
    },
    Row {
        names: "os.listdir",
        acts: &[Pure(c::names)],
    },
    Row {
        names: "Path#rglob Path#glob Path#iterdir",
        acts: &[Pure(c::below)],
    },
];

fn environment(_: &[crate::code::values::Value]) -> crate::code::values::Value {
    crate::code::values::Value::Name("ENV".to_owned())
}

fn home_path(args: &[crate::code::values::Value]) -> crate::code::values::Value {
    crate::code::values::Value::Made("Path", Box::new(c::home(args)))
}

//! Methods whose names say what they do, whoever's object they are called on and in whatever
//! language: drivers of databases and clients of services lose their class on many ways.

use super::CallEffect::*;
use super::{Parameter, Row, SECOND};

pub(super) static ROWS: &[Row] = &[
    Row {
        names: "?#flushall ?#flushAll ?#flushdb ?#flushDb ?#FLUSHALL ?#FLUSHDB",
        acts: &[As("redis-cli {method}")],
    },
    Row {
        names: "?#drop_database ?#dropDatabase ?#dropdatabase",
        acts: &[As("mongosh --eval db.dropDatabase()")],
    },
    Row {
        names: "?#drop_collection ?#dropCollection ?#dropcollection",
        acts: &[As("mongosh --eval db.c.drop()")],
    },
    Row {
        names: "?#delete_many ?#deleteMany ?#deletemany",
        acts: &[As("mongosh --eval db.c.deleteMany({filter})")],
    },
    Row {
        names: "?#drop_all ?#drop_table ?#drop_tables ?#dropTable ?#dropTableIfExists ?#dropSchema \
                ?#drop_schema ?#dropAllTables",
        acts: &[As("psql -c DROP·TABLE·t")],
    },
    Row {
        names: "?#execute ?#executescript ?#executemany ?#exec_driver_sql ?#query ?#raw ?#exec ?#do \
                ?#$executeRawUnsafe ?#$executeRaw ?#$queryRawUnsafe ?#$queryRaw ?#exec_query ?#exec_params \
                ?#fetch ?#fetchval ?#fetchrow ?#prepare ?#run_query ?#multi_query ?#real_query ?#read_sql ?#sql ?#statement ?#unprepared",
        acts: &[QueryIfPlain("psql -c {1}")],
    },
    Row {
        names: "?#post ?#put ?#patch ?#post_form ?#sendBeacon",
        acts: &[ConnectIfAddress(SECOND)],
    },
    Row {
        names: "?#exec_command ?#execCommand ?#exec!",
        acts: &[As("ssh a.host {1}")],
    },
    Row {
        names: "?#terminate_instances ?#terminateInstances",
        acts: &[As("aws ec2 terminate-instances")],
    },
    Row {
        names: "?#delete_bucket ?#deleteBucket",
        acts: &[As("aws s3api delete-bucket")],
    },
    Row {
        names: "?#delete_db_instance ?#deleteDBInstance",
        acts: &[As("aws rds delete-db-instance")],
    },
    Row {
        names: "?#delete_stack ?#deleteStack",
        acts: &[As("aws cloudformation delete-stack")],
    },
    Row {
        names: "?#delete_namespace ?#delete_namespaced_pod ?#delete_namespaced_deployment \
                ?#delete_namespaced_service ?#delete_namespaced_persistent_volume_claim \
                ?#delete_namespaced_stateful_set ?#delete_namespaced_secret ?#delete_node \
                ?#delete_collection_namespaced_pod ?#delete_persistent_volume",
        acts: &[Kubernetes],
    },
    // A program that was started, whatever started it.
    Row {
        names: "Process#communicate",
        acts: &[Feed(Parameter(1, "input"))],
    },
    Row {
        names: "Process#stdin.write Process#stdin.writelines Process#stdin.end Process#stdin.puts Process#write \
                Process#puts Process#print Process#sendline Process#send Process#stdin.print Process#stdin.writeLines",
        acts: &[Feed(SECOND)],
    },
];

//! Ruby's functions. `::` stands as a dot.

use super::CallEffect::*;
use super::{Depth, FIRST, Parameter, Row, SECOND};
use crate::code::Unfollowed;
use crate::code::constants as c;

pub(super) static ROWS: &[Row] = &[
    Row {
        names: "File.delete File.unlink Dir.rmdir Dir.delete Dir.unlink FileUtils.rm FileUtils.rm_f \
                FileUtils.remove FileUtils.safe_unlink FileUtils.rmdir FileUtils.remove_file rm rm_f",
        acts: &[DeleteAll(0, Depth::One)],
    },
    Row {
        names: "FileUtils.rm_r FileUtils.rm_rf FileUtils.rmtree FileUtils.remove_dir FileUtils.remove_entry \
                FileUtils.remove_entry_secure rm_r rm_rf rmtree remove_dir remove_entry_secure",
        acts: &[DeleteAll(0, Depth::Tree)],
    },
    Row {
        names: "Path#delete Path#unlink Path#rmdir ?#unlink",
        acts: &[Delete(FIRST, Depth::One)],
    },
    Row {
        names: "Path#rmtree ?#rmtree",
        acts: &[Delete(FIRST, Depth::Tree)],
    },
    Row {
        names: "Path#write Path#binwrite Path#mkpath Path#mkdir",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "Path#read Path#readlines Path#binread",
        acts: &[Read(FIRST)],
    },
    Row {
        names: "Path#rename",
        acts: &[Rename(FIRST, SECOND)],
    },
    Row {
        names: "Path#chmod",
        acts: &[ChangeMode(FIRST)],
    },
    Row {
        names: "File.write IO.write File.binwrite IO.binwrite File.truncate File.mkfifo Dir.mkdir \
                FileUtils.touch FileUtils.mkdir FileUtils.mkdir_p FileUtils.makedirs mkdir_p",
        acts: &[Write(FIRST)],
    },
    Row {
        names: "File.read IO.read File.readlines IO.readlines File.foreach IO.foreach File.binread",
        acts: &[OpenPiped(FIRST, Parameter(9, ""))],
    },
    Row {
        names: "File.open File.new",
        acts: &[Open(FIRST, Parameter(1, "mode"))],
    },
    Row {
        names: "open URI.open",
        acts: &[OpenPiped(FIRST, Parameter(1, "mode"))],
    },
    Row {
        names: "IO.sysopen",
        acts: &[Open(FIRST, SECOND)],
    },
    Row {
        names: "File.rename FileUtils.mv FileUtils.move",
        acts: &[Rename(FIRST, SECOND)],
    },
    Row {
        names: "FileUtils.cp FileUtils.copy FileUtils.cp_r FileUtils.copy_file FileUtils.copy_entry FileUtils.install IO.copy_stream",
        acts: &[Read(FIRST), Write(SECOND)],
    },
    Row {
        names: "File.symlink File.link FileUtils.ln FileUtils.ln_s FileUtils.ln_sf",
        acts: &[Link(FIRST, SECOND)],
    },
    Row {
        names: "File.chmod File.lchmod",
        acts: &[ChangeModeAll(1)],
    },
    Row {
        names: "File.chown File.lchown File.utime",
        acts: &[ChangeModeAll(2)],
    },
    Row {
        names: "FileUtils.chmod FileUtils.chmod_R",
        acts: &[ChangeMode(SECOND)],
    },
    Row {
        names: "FileUtils.chown FileUtils.chown_R",
        acts: &[ChangeMode(Parameter(2, ""))],
    },
    // Programs.
    Row {
        names: "system exec spawn Process.spawn Process.exec Open3.capture2 Open3.capture2e \
                Open3.capture3 Open3.popen2 Open3.popen2e Open3.popen3 Open3.pipeline PTY.spawn \
                PTY.getpty sh",
        acts: &[System(0)],
    },
    Row {
        names: "`",
        acts: &[Shell(FIRST)],
    },
    Row {
        names: "IO.popen",
        acts: &[ShellOrList],
    },
    // Network.
    Row {
        names: "Net.HTTP.get Net.HTTP.get_response Net.HTTP.get_print Net.HTTP.post Net.HTTP.post_form Net.HTTP.start \
                TCPSocket.new TCPSocket.open Net.FTP.new Net.FTP.open Net.SSH.start HTTParty.get \
                HTTParty.post Faraday.get Faraday.post RestClient.get RestClient.post Socket.tcp",
        acts: &[Connect(FIRST)],
    },
    // Code and names made at run time.
    Row {
        names: "eval instance_eval class_eval module_eval binding.eval TOPLEVEL_BINDING.eval RubyVM.InstructionSequence.compile \
                ERB.new",
        acts: &[EvalText(FIRST)],
    },
    Row {
        names: "?#instance_eval ?#class_eval ?#module_eval ?#instance_exec",
        acts: &[EvalText(SECOND)],
    },
    Row {
        names: "send __send__ public_send",
        acts: &[Dispatch(0)],
    },
    Row {
        names: "?#send ?#__send__ ?#public_send",
        acts: &[Dispatch(1)],
    },
    Row {
        names: "?#instance_method",
        acts: &[Opaque(Unfollowed::DynamicName)],
    },
    Row {
        names: "method",
        acts: &[Pure(function)],
    },
    Row {
        names: "Object.const_get const_get",
        acts: &[Import(FIRST)],
    },
    Row {
        names: "?#const_get",
        acts: &[Import(SECOND)],
    },
    Row {
        names: "require require_relative autoload",
        acts: &[Import(FIRST)],
    },
    Row {
        names: "Fiddle.dlopen Fiddle.Function.new Marshal.load YAML.unsafe_load DL.dlopen",
        acts: &[Opaque(Unfollowed::Native)],
    },
    Row {
        names: "syscall",
        acts: &[Opaque(Unfollowed::Native)],
    },
    // Values.
    Row {
        names: "Pathname.new Pathname",
        acts: &[Make("Path", FIRST)],
    },
    Row {
        names: "File.join",
        acts: &[Pure(c::path_appended)],
    },
    Row {
        names: "Dir.tmpdir",
        acts: &[Pure(c::temporary)],
    },
    Row {
        names: "File.dirname",
        acts: &[Pure(c::parent)],
    },
    Row {
        names: "File.expand_path File.absolute_path",
        acts: &[Pure(c::seen_from)],
    },
    Row {
        names: "File.realpath String URI URI.parse Shellwords.escape",
        acts: &[Pure(c::first)],
    },
    Row {
        names: "Dir.pwd Dir.getwd",
        acts: &[WorkingDirectory(None)],
    },
    Row {
        names: "Pathname.pwd",
        acts: &[WorkingDirectory(Some("Path"))],
    },
    Row {
        names: "Base64.decode64 Base64.strict_decode64 Base64.urlsafe_decode64",
        acts: &[Pure(c::base64)],
    },
    Row {
        names: "Shellwords.split",
        acts: &[Pure(c::words)],
    },
    Row {
        names: "include extend",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "format sprintf",
        acts: &[Pure(c::printed)],
    },
    // Databases, services, other machines.
    Row {
        names: "PG.connect PG.Connection.new PG.Connection.open Mysql2.Client.new Sequel.connect SQLite3.Database.new \
                SQLite3.Database.open",
        acts: &[Make("Sql", Parameter(9, ""))],
    },
    Row {
        names: "Sql#exec Sql#exec_params Sql#execute Sql#execute_batch Sql#query Sql#run Sql#async_exec",
        acts: &[Query("psql -c {1}")],
    },
    Row {
        names: "?#delete_all ?#destroy_all",
        acts: &[As("psql -c DELETE·FROM·t")],
    },
    Row {
        names: "Redis.new",
        acts: &[Make("Redis", Parameter(9, ""))],
    },
    Row {
        names: "Aws.*",
        acts: &[MakeNamed("Aws")],
    },
    Row {
        names: "Aws#clear! Aws#delete!",
        acts: &[As("aws s3 rm s3://b --recursive")],
    },
    Row {
        names: "Aws#*",
        acts: &[As("aws {service} {method-} {flags}")],
    },
    Row {
        names: "Process.kill",
        acts: &[Kill(SECOND, FIRST)],
    },
    Row {
        names: "Dir.chdir FileUtils.cd FileUtils.chdir",
        acts: &[ChangeDirectory(FIRST)],
    },
    Row {
        names: "Net.HTTP.new TCPSocket.new TCPSocket.open Socket.tcp",
        acts: &[Connect(FIRST), Make("Connection", FIRST)],
    },
    Row {
        names: "Connection#post Connection#put Connection#write Connection#puts Connection#print Connection#send \
                Connection#request Connection#get",
        acts: &[Send(FIRST)],
    },
    Row {
        names: "HTTParty.put HTTParty.patch Faraday.put RestClient.put HTTP.post Excon.post Typhoeus.post",
        acts: &[Connect(FIRST)],
    },
    Row {
        names: "puts p print pp warn $stdout.puts $stdout.write STDOUT.puts",
        acts: &[Print(0)],
    },
    Row {
        names: "ENV.fetch ENV.[] ENV.dig",
        acts: &[Pure(c::variable)],
    },
    Row {
        names: "ENV.to_h ENV.to_json ENV.to_hash ENV.to_a ENV.to_s ENV.inspect ENV.map ENV.each ENV.values ENV.select",
        acts: &[Pure(environment)],
    },
    Row {
        names: "ENV.key? ENV.keys ENV.include? ENV.has_key?",
        acts: &[Pure(c::nothing)],
    },
    Row {
        names: "JSON.generate JSON.dump Base64.encode64 Base64.strict_encode64 CGI.escape URI.encode_www_form \
                URI.encode_www_form_component Marshal.dump",
        acts: &[Keep],
    },
    Row {
        names: "Dir.home",
        acts: &[Pure(c::home)],
    },
    Row {
        names: "Dir.glob",
        acts: &[Pure(c::found)],
    },
    Row {
        names: "load",
        acts: &[As("ruby {0}")],
    },
];

/// `method(:system)` is the function of that name.
fn function(args: &[crate::code::values::Value]) -> crate::code::values::Value {
    use crate::code::values::Value;
    match args.first().and_then(Value::text) {
        Some(name) => Value::Name(name.to_owned()),
        None => Value::Unknown,
    }
}

fn environment(_: &[crate::code::values::Value]) -> crate::code::values::Value {
    crate::code::values::Value::Name("ENV".to_owned())
}

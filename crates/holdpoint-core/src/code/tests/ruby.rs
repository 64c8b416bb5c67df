//! Ruby.

use super::{check, check_harmless};
use crate::code::Language::Ruby;

#[test]
fn files_are_followed_to_their_paths() {
    check(
        Ruby,
        &[
            ("File.delete('/etc/passwd')", "delete /etc/passwd"),
            ("File.delete \"a\", 'b'", "delete a; delete b"),
            ("require 'fileutils'; FileUtils.rm_rf('/x')", "delete -r /x"),
            ("FileUtils.rm_rf %w[a b]", "delete -r a; delete -r b"),
            ("FileUtils.rm_rf('/x', verbose: true)", "delete -r /x"),
            ("FileUtils.rm 'x', :force => true", "delete x"),
            ("include FileUtils; rm_rf '/x'", "delete -r /x"),
            (
                "Dir.glob('*.tmp').each { |f| File.delete(f) }",
                "delete ./…",
            ),
            ("%w[a b].each { |f| File.delete(f) }", "delete a; delete b"),
            (
                "['a', 'b'].each do |f|\n  File.unlink f\nend",
                "delete a; delete b",
            ),
            ("File.delete(\"/tmp/#{x}\")", "delete /tmp/…"),
            ("p = '/a' + '/b'; File.delete p", "delete /a/b"),
            (
                "File.delete(File.join('a', 'b')) if File.exist?('a')",
                "delete a/b",
            ),
            ("File.write('x', 'y')", "write x"),
            (
                "File.write 'x', <<~EOS\n  File.delete('z')\nEOS\nFile.delete('q')",
                "write x; delete q",
            ),
            ("File.open('x', 'w') { |f| f.puts 1 }", "write x"),
            ("File.open('x', 'a') do |f| f << 1 end", "append x"),
            ("puts File.read('x')", "read x"),
            ("Pathname.new('x').rmtree", "delete -r x"),
            ("Pathname('x').write('y')", "write x"),
            ("File.rename 'a', 'b'", "rename a b"),
            ("FileUtils.mv('a', 'b')", "rename a b"),
            ("FileUtils.cp 'a', 'b'", "read a; write b"),
            ("File.chmod(0777, 'x')", "mode x"),
            ("Dir.rmdir('x') unless y", "delete x"),
            ("x = 'a'; x << 'b'; File.delete x", "delete ?"),
            ("File.send(:delete, 'x')", "delete x"),
            ("x = 4; x /2; File.delete('y') #/", "delete y"),
            ("p = 4; p /2; File.delete('y') #/", "delete y"),
            ("x = begin 4 end / 2; File.delete('y') #/", "delete y"),
        ],
    );
}

#[test]
fn programs_are_lines_or_words() {
    check(
        Ruby,
        &[
            ("system('rm -rf /')", "shell rm -rf /"),
            ("system 'rm', '-rf', '/'", "run rm|-rf|/"),
            ("system \"rm #{x}\"", "shell rm …"),
            ("puts `id`", "shell id"),
            ("x = %x(ls -l)", "shell ls -l"),
            ("exec 'id'", "shell id"),
            ("Kernel.system('id')", "shell id"),
            ("Process.spawn('id')", "shell id"),
            ("IO.popen('id').read", "shell id"),
            ("IO.popen(['ls', '-l'])", "run ls|-l"),
            (
                "require 'open3'\nout, st = Open3.capture2e('id')",
                "shell id",
            ),
            ("open('|id')", "shell id"),
            ("open('| id').read", "shell id"),
            ("send(:system, 'id')", "shell id"),
            ("Kernel.send('sys' + 'tem', 'id')", "shell id"),
            ("method(:system).call('id')", "shell id"),
            ("system(*args)", "run ?"),
            ("puts \"#{`id`}\"", "shell id"),
            (
                "require 'net/http'; Net::HTTP.get(URI('http://a.b'))",
                "connect http://a.b",
            ),
            (
                "require 'open-uri'; puts URI.open('http://a.b').read",
                "connect http://a.b",
            ),
            ("TCPSocket.new('a.b', 80)", "connect a.b"),
        ],
    );
}

#[test]
fn code_made_at_run_time_is_read_or_said() {
    check(
        Ruby,
        &[
            ("eval \"File.delete('x')\"", "delete x"),
            ("eval(gets)", "eval; !Evaluates"),
            ("instance_eval { puts 1 }", ""),
            ("send(name, 1)", "!DynamicName"),
            ("obj.send(name)", "!DynamicName"),
            ("Object.const_get('File').delete('x')", "delete x"),
            ("Object.const_get(n)", "!DynamicName"),
            (
                "require 'base64'; eval(Base64.decode64('RmlsZS5kZWxldGUoJ3gnKQ=='))",
                "delete x",
            ),
            (
                "eval ['46696c652e64656c65746528277827 29'].pack('H*')",
                "delete x",
            ),
            ("puts 'a", "!Unreadable"),
        ],
    );
}

#[test]
fn ordinary_code_gives_nothing() {
    check_harmless(
        Ruby,
        &[
            "puts 1",
            "puts 'rm -rf /'",
            "puts \"system('x')\"",
            "require 'json'; puts JSON.parse(STDIN.read)['x']",
            "puts RUBY_VERSION",
            "puts [1, 2, 3].map { |x| x * 2 }.sum",
            "[1,2].each do |x|\n  puts x\nend",
            "# File.delete('x')\nputs 1",
            "=begin\nFile.delete('x')\n=end\nputs 1",
            "puts 1 if x =~ /a'b/",
            "puts x.gsub(/['\"]/, '')",
            "h = {a: 1, 'b' => 2, :c => 3}; puts h[:a]",
            "puts %w[a b].join(',')",
            "def system_name(x)\n  x\nend",
            "class A\n  attr_reader :exec\n  def open; end\nend",
            "puts x ? 'a' : 'b'",
            "puts 10 / 2 / 5",
            "puts 10 % 3",
            "x = <<~EOS\n  rm -rf / it's `id`\nEOS\nputs x",
            "x = <<~'EOS'\n  rm -rf / `id` it's\nEOS\nputs x",
            "puts ARGV.first.to_s.upcase",
            "puts File.exist?('x')",
            "puts Dir.glob('*').sort",
            "puts File.basename('a/b'), File.join('a', 'b')",
            "a, b = 1, 2; puts a + b",
            "loop { break }",
            "begin\n  foo\nrescue => e\n  warn e.message\nensure\n  bar\nend",
            "case x\nwhen 1 then puts 'a'\nelse puts 'b'\nend",
            "puts :system, :\"a b\"",
            "printf(\"%d %s\\n\", 1, 'a')",
            "puts __FILE__ == $0, $stdin, @x, @@y",
            "x ||= 1; y &&= 2; z += 3",
            "f = ->(x) { x + 1 }; puts f.(1), f.call(2), f[3]",
            "puts x&.y&.z",
            "puts (1..10).to_a.inspect",
            "foo(&:bar)",
            "gem 'rails', '~> 7'",
            "puts x.match?(%r{a/b})",
            "Foo::Bar.new(1).baz!(2)",
            "puts \"a\\\"b\" 'c'",
            "unless x then puts 1 end",
            "$stderr.puts 'x'\nwarn 'y'",
        ],
    );
}
